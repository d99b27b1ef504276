// Shows the description of the API. Nothing is asked of another host: the validator's badge is off.
window.addEventListener("load", () => {
  SwaggerUIBundle({
    url: "/openapi.yaml",
    dom_id: "#api",
    deepLinking: true,
    displayRequestDuration: true,
    docExpansion: "none",
    filter: true,
    persistAuthorization: false,
    validatorUrl: null,
  });
});

// Forms that a passkey answers: the options stand on the page, and the answer goes with the form. Nothing else is sent.

const bytesOf = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

const textOf = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

const known = (list = []) => list.map((each) => ({ ...each, id: bytesOf(each.id) }));

function read(options) {
  const read = { ...options, challenge: bytesOf(options.challenge) };
  if (options.user) read.user = { ...options.user, id: bytesOf(options.user.id) };
  if (options.excludeCredentials) read.excludeCredentials = known(options.excludeCredentials);
  if (options.allowCredentials) read.allowCredentials = known(options.allowCredentials);
  return read;
}

function written(credential) {
  const { response } = credential;
  const parts = { clientDataJSON: textOf(response.clientDataJSON) };
  for (const name of ["attestationObject", "authenticatorData", "signature"]) {
    if (response[name]) parts[name] = textOf(response[name]);
  }
  return JSON.stringify({ id: credential.id, rawId: textOf(credential.rawId), type: credential.type, response: parts });
}

const SENTENCES = {
  InvalidStateError: "This device already has a passkey of yours.",
  NotAllowedError: "The passkey was not used: it took too long, or was cancelled. Nothing was done.",
  SecurityError: "Passkeys do not work at this address.",
};

function say(form, sentence) {
  const place = form.querySelector("[data-said]");
  place.textContent = sentence;
  place.hidden = !sentence;
}

async function answer(form, isNew) {
  const publicKey = read(JSON.parse(document.getElementById(form.dataset.options).textContent));
  const credential = await navigator.credentials[isNew ? "create" : "get"]({ publicKey });
  form.elements[isNew ? "credential" : "assertion"].value = written(credential);
  form.submit();
}

function prepare(form) {
  const button = form.querySelector("button:not([type=button])");
  button.disabled = false;
  say(form, "");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (button.disabled) return;
    button.disabled = true;
    say(form, "");
    answer(form, form.dataset.passkey === "create").catch((error) => {
      button.disabled = false;
      say(form, SENTENCES[error.name] ?? `The passkey could not be used: ${error.message}`);
    });
  });
}

function isForHere(form) {
  const options = JSON.parse(document.getElementById(form.dataset.options).textContent);
  const domain = options.rpId ?? options.rp.id;
  if (location.hostname === domain || location.hostname.endsWith(`.${domain}`)) return true;
  form.querySelector("button:not([type=button])").hidden = true;
  say(form, `Passkeys work at the address ${domain} only. To use one, write ${domain} in place of ${location.hostname} in the address bar.`);
  return false;
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!window.PublicKeyCredential) say(form, "This browser has no passkeys, or the address is not safe for them.");
  else if (isForHere(form)) prepare(form);
}

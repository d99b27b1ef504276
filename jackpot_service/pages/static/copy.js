// Copies the text of a field, and says so. Without it the field can be selected and copied by hand.

for (const button of document.querySelectorAll("[data-copy]")) {
  const field = document.getElementById(button.dataset.copy);
  const state = button.parentElement.querySelector("[data-copy-state]");
  field.addEventListener("focus", () => field.select());
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(field.value);
      state.textContent = "Copied.";
    } catch {
      field.select();
      state.textContent = "Your browser does not allow this: select the key, and copy it yourself.";
    }
  });
}

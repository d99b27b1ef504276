// What the frame of a page does by itself: it warns before a session ends, and keeps a form that was sent too late.

const MINUTE = 60_000;

function warnBeforeEnd() {
  const endsAt = Date.parse(document.body.dataset.endsAt ?? "");
  const banner = document.querySelector(".ending");
  if (!banner || Number.isNaN(endsAt)) return;
  // By this machine's clock, which may be wrong: a session that has just been used has half an hour.
  const left = endsAt - Date.now();
  const isBelieved = left > 0 && left <= 30 * MINUTE;
  setTimeout(() => { banner.hidden = false; }, isBelieved ? Math.max(0, left - 2 * MINUTE) : 28 * MINUTE);
}

// A form that is sent when the session has ended comes back from the sign-in as its person filled it in. Keys are never
// kept. What was kept is for the page after such a sign-in, and for nobody else: every other page forgets all of it.
// Whether one comes from there is noted here: who signs in at their company comes back from another site.
const KEPT = "jackpot-form:";
const UNSENT = "jackpot-unsent";
const person = document.body.dataset.person;

function keepForms() {
  const isUnsent = sessionStorage.getItem(UNSENT) !== null;
  for (const form of document.querySelectorAll("form[data-keep]")) {
    const kept = isUnsent ? JSON.parse(sessionStorage.getItem(placeOf(form))) : null;
    if (kept?.person === person) fillIn(form, kept.values);
    form.addEventListener("submit", () => {
      sessionStorage.setItem(placeOf(form), JSON.stringify({ person, values: valuesOf(form) }));
    });
  }
}

function forgetForms() {
  for (const name of Object.keys(sessionStorage)) {
    if (name === UNSENT || name.startsWith(KEPT)) sessionStorage.removeItem(name);
  }
}

// By where it is sent, with what it is about: that page may stand at more than one address.
function placeOf(form) {
  const sent = new URL(form.getAttribute("action") ?? location.href, location.href);
  sent.searchParams.delete("form");
  return `${KEPT}${sent.pathname}${sent.search}#${form.dataset.keep}`;
}

function valuesOf(form) {
  const left = [...form.elements].filter(({ type, name }) => /hidden|password/.test(type) && !isOfBooks(name));
  const names = left.map(({ name }) => name);
  return [...new FormData(form)].filter(([name, value]) => !names.includes(name) && typeof value === "string");
}

// What the form has shown of the books, and their version: without it, what was left would be a change of what is now.
function isOfBooks(name) {
  return name === "base_version" || name.startsWith("was-");
}

function fillIn(form, values) {
  for (const field of [...form.elements]) {
    const own = values.filter(([name]) => name === field.name).map(([, value]) => value);
    if (isOfBooks(field.name)) field.remove();
    else if (field.type === "checkbox" || field.type === "radio") field.checked = own.includes(field.value);
    else if (own.length && field.type !== "hidden" && field.type !== "submit") field.value = own[0];
  }
  for (const [name, value] of values.filter(([each]) => isOfBooks(each))) {
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
  }
}

if (!window.isSecureContext) {
  for (const warning of document.querySelectorAll("[data-insecure]")) warning.hidden = false;
  for (const field of document.querySelectorAll("#key, #key ~ button")) field.disabled = true;
}
document.querySelector(".menu")?.addEventListener("click", ({ currentTarget: menu }) => {
  menu.ariaExpanded = String(menu.ariaExpanded === "false");
});
warnBeforeEnd();
keepForms();
if (!location.pathname.startsWith("/sign-in")) forgetForms();
else if (new URLSearchParams(location.search).has("unsent")) sessionStorage.setItem(UNSENT, "yes");

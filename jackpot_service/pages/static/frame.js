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

// A form that is sent when the session has ended comes back from the sign-in as it was filled in. Keys are never kept.
// Whether one comes from there is noted here: who signs in at their company comes back from another site.
const KEPT = "jackpot-form:";
const SIGNING_IN = "jackpot-signing-in";
const isSignIn = location.pathname.startsWith("/sign-in");
const comesFromSignIn = !isSignIn && sessionStorage.getItem(SIGNING_IN) !== null;
if (isSignIn) sessionStorage.setItem(SIGNING_IN, "yes");
else sessionStorage.removeItem(SIGNING_IN);

function keepForms() {
  for (const form of document.querySelectorAll("form[data-keep]")) {
    const place = KEPT + location.pathname + "#" + form.dataset.keep;
    const kept = sessionStorage.getItem(place);
    sessionStorage.removeItem(place);
    if (kept && comesFromSignIn) fillIn(form, JSON.parse(kept));
    form.addEventListener("submit", () => {
      const values = [...new FormData(form)].filter(([name, value]) => !isSecret(form, name) && typeof value === "string");
      sessionStorage.setItem(place, JSON.stringify(values));
    });
  }
}

function isSecret(form, name) {
  return name === "csrf_token" || [...form.elements].some((field) => field.name === name && field.type === "password");
}

function fillIn(form, values) {
  for (const field of form.elements) {
    const own = values.filter(([name]) => name === field.name).map(([, value]) => value);
    if (field.type === "checkbox" || field.type === "radio") field.checked = own.includes(field.value);
    else if (own.length && field.type !== "hidden" && field.type !== "submit") field.value = own[0];
  }
}

if (!window.isSecureContext) {
  for (const warning of document.querySelectorAll("[data-insecure]")) warning.hidden = false;
  for (const field of document.querySelectorAll("#key, #key ~ button")) field.disabled = true;
}
warnBeforeEnd();
keepForms();

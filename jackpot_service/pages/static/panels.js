// Panels that are loaded one after another: each shows its own problem, and can be asked for again.

const LONGEST_WAIT_S = 10;
const retried = new Set();

const panelOf = (element) => element?.closest?.(".panel .body");

// A service that is busy says when to come back. The panel does so once by itself.
function retriesLater(body, xhr) {
  const place = body.getAttribute("hx-get");
  const wait = Number(xhr.getResponseHeader("Retry-After"));
  if (xhr.status !== 503 || !wait || retried.has(place)) return false;
  retried.add(place);
  setTimeout(() => htmx.trigger(body, "retry"), 1000 * Math.min(wait, LONGEST_WAIT_S));
  return true;
}

document.addEventListener("htmx:beforeSwap", (event) => {
  const {xhr, target} = event.detail;
  const body = panelOf(target);
  if (!body || xhr.status < 400) return;
  const waits = retriesLater(body, xhr);
  const isPart = xhr.getResponseHeader("Jackpot-Part") !== null;
  event.detail.isError = false;
  event.detail.shouldSwap = isPart && !waits;
  if (!isPart && !waits) showUnreachable(event); // A page of its own, or what a proxy says, is not put in here.
});

function showUnreachable(event) {
  const body = panelOf(event.detail.elt);
  const template = document.getElementById("unreachable");
  if (!body || !template) return;
  body.replaceChildren(template.content.cloneNode(true));
  body.querySelector("[data-again]").href = body.getAttribute("hx-get");
}

document.addEventListener("htmx:sendError", showUnreachable);
document.addEventListener("htmx:timeout", showUnreachable);

document.addEventListener("click", (event) => {
  const again = event.target.closest?.("[data-again]");
  const body = panelOf(again);
  if (!body) return;
  event.preventDefault();
  retried.delete(body.getAttribute("hx-get"));
  htmx.trigger(body, "retry");
});

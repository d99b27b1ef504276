/*
 * The wall listens to its jackpot's feed, and shows what it says.
 *
 * It reads the feed by fetch: an EventSource keeps to itself the comments by which a feed says that it is there.
 */
import { Rolling, turns } from "./rolling.js";

const LATE_MS = 8000, OFFLINE_MS = 30000, SILENT_MS = 15000, LONGEST_WAIT_MS = 15000;
const CELEBRATES_MS = 24000, OLD_MS = 120000, MINUTE_MS = 60000;
const DRIFTS = [[0, 0], [3, 1], [4, 3], [1, 4], [-2, 4], [-4, 2], [-4, -1], [-2, -3], [1, -4], [3, -2]];

const page = document.documentElement, data = page.dataset;
const find = (selector, within = document) => within.querySelector(selector);
const meter = find(".meter"), heard = find(".heard"), won = find(".won"), stage = find(".stage");
const currency = meter.dataset.currency, exponent = Number(meter.dataset.exponent);
const isStill = matchMedia("(prefers-reduced-motion: reduce)");
const rolling = new Rolling(Number(meter.dataset.amount));

let cycle = Number(data.cycle), lastHit = Number(data.hit), sheet = Number(data.sheet);
let heardAt = performance.now(), heardTime = new Date();
let failures = 0, celebratesUntil = 0, refreshAt = Infinity, isPainting = false;

/* The ledger's time. Of two clocks, of which one may sleep and one be set, the later: no hit seems younger than it is. */
const painted = [Date.parse(data.now), performance.now(), Date.now()];
const ledgerNow = () => painted[0] + Math.max(performance.now() - painted[1], Date.now() - painted[2]);

function make(name, parent, text = "") {
  const element = parent.appendChild(document.createElement(name));
  element.textContent = text;
  return element;
}

function written(minor, decimals) {
  const digits = String(minor).padStart(decimals + 1, "0"), cut = digits.length - decimals;
  const units = digits.slice(0, cut).replace(/\B(?=(\d{3})+$)/g, ",");
  return decimals ? `${units}.${digits.slice(cut)}` : units;
}

/* The counter: each wheel is two digits, which move by transform alone. */

let wheels = [];

function buildWheels(text) {
  meter.querySelectorAll(".wheel, .mark").forEach((element) => element.remove());
  meter.dataset.size = text.length;
  wheels = [];
  for (const character of text) {
    const element = make("span", meter), isMark = character === "," || character === ".";
    element.className = isMark ? "mark" : "wheel";
    const digits = isMark ? [make("b", element, character)] : [make("b", element), make("b", element)];
    if (isMark) wheels[0].parts.push(element);
    else wheels.unshift({ parts: [element], digits, digit: -1, turn: -1, isLeading: false });
  }
}

function paint(time) {
  isPainting = false;
  const all = turns(rolling.at(time), wheels.length);
  let isLeading = true;
  for (let place = wheels.length - 1; place >= 0; place -= 1) {
    const wheel = wheels[place], [digit, turn] = all[place];
    isLeading &&= digit === 0 && turn === 0 && place > exponent;
    if (wheel.isLeading !== isLeading) {
      wheel.isLeading = isLeading;
      for (const part of wheel.parts) part.classList.toggle("leading", isLeading);
    }
    if (wheel.digit !== digit) {
      wheel.digit = digit;
      wheel.digits[0].textContent = digit;
      wheel.digits[1].textContent = (digit + 1) % 10;
    }
    if (wheel.turn !== turn) {
      wheel.turn = turn;
      for (const span of wheel.digits) span.style.transform = `translateY(${-100 * turn}%)`;
    }
  }
  if (rolling.rolls) wakePainter();
}

function wakePainter() {
  if (isPainting || celebratesUntil) return;
  isPainting = true;
  requestAnimationFrame(paint);
}

function fit() {
  const text = written(rolling.reported, exponent);
  if (text.length !== Number(meter.dataset.size) || !wheels.length) buildWheels(text);
  wakePainter();
}

/* What the feed says. */

function show(frame) {
  const [amount, ...others] = frame.amounts;
  data.state = frame.state;
  rolling.report(amount.amount_minor, performance.now(), isStill.matches);
  for (const other of others) {
    const chip = find(`.others li[data-currency="${other.currency}"] b`);
    if (chip) chip.textContent = written(other.amount_minor, other.exponent);
  }
  const hit = frame.last_hit;
  if (frame.cycle > cycle && hit && hit.cycle > lastHit && ledgerNow() - Date.parse(hit.hit_at) < OLD_MS) celebrate(hit);
  if (frame.cycle !== cycle || frame.rate_sheet !== (sheet || null) || frame.state === "retired") refreshSoon();
  cycle = frame.cycle;
  sheet = frame.rate_sheet;
  lastHit = Math.max(lastHit, hit?.cycle ?? 0);
  fit();
}

function celebrate(hit) {
  const cards = find(".hand", won);
  cards.replaceChildren();
  for (const [rank, suit] of [...hit.cards].reverse()) {
    const card = find(".royal .card").cloneNode(true);
    card.dataset.suit = suit;
    find("b", card).textContent = rank === "T" ? "10" : rank;
    find("use", card).setAttribute("href", `#${suit}`);
    cards.append(card);
  }
  const sum = data.baseSign + written(hit.amount_minor, hit.exponent);
  find(".sum", won).textContent = sum;
  find(".sum", won).dataset.size = sum.length;
  const where = find(".where", won);
  where.textContent = hit.winners > 1 ? ` · shared by ${hit.winners.toLocaleString("en")} players of one round` : "";
  where.prepend(make("bdi", where, hit.casino));
  const confetti = find(".confetti", won);
  confetti.replaceChildren();
  for (let piece = 0; piece < 90 && !isStill.matches; piece += 1) {
    const { style } = make("i", confetti);
    style.left = `${Math.random() * 100}%`;
    style.setProperty("--turn", `${Math.round(Math.random() * 1440 - 720)}deg`);
    style.setProperty("--sway", `${Math.round(Math.random() * 24 - 12)}vw`);
    style.animationDuration = `${3.5 + Math.random() * 4}s`;
    style.animationDelay = `${Math.random() * 5}s`;
  }
  won.hidden = false;
  celebratesUntil = performance.now() + CELEBRATES_MS;
}

function endCelebration() {
  celebratesUntil = 0;
  won.hidden = true;
  const amount = rolling.reported;
  rolling.restart(0);
  rolling.report(amount, performance.now(), isStill.matches);
  fit();
  refreshAt = 0;
}

/* Listening: it begins again by itself, later each time, and not with all other displays at once. */

async function listen() {
  const ending = new AbortController(), hear = () => { heardAt = performance.now(); heardTime = new Date(); };
  const began = performance.now(), silent = () => performance.now() - Math.max(began, heardAt) > SILENT_MS;
  const watching = setInterval(() => { if (silent()) ending.abort(); }, 1000);
  let rest = "";
  try {
    const answer = await fetch(data.feed, {
      headers: { Accept: "text/event-stream" }, credentials: "omit", cache: "no-store", signal: ending.signal,
    });
    if (!answer.ok) throw new Error(answer.status);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      hear();
      const blocks = (rest + piece.value).split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) if (block.startsWith("data: ")) show(JSON.parse(block.slice(6)));
      if (failures) refreshSoon();
      failures = 0;
    }
  } catch {
    /* As an end: whatever it was, it is tried again. */
  }
  clearInterval(watching);
  ending.abort();
  const wait = Math.min(LONGEST_WAIT_MS, (0.5 + Math.random()) * 1000 * 2 ** Math.min(failures, 5));
  failures += 1;
  if (failures % 5 === 0) refreshSoon();
  setTimeout(listen, wait);
}

/* The rest of the page, of which the feed says nothing: prizes, the last hit, whether this is the newest version. */

function refreshSoon() {
  refreshAt = Math.min(refreshAt, performance.now() + Math.random() * 20000);
}

async function refresh() {
  refreshAt = Infinity;
  try {
    const answer = await fetch(location, { cache: "no-store", credentials: "omit" });
    if (answer.status === 404) location.reload();
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const script = (of) => find("script[src]", of).getAttribute("src");
    if (script(fresh) !== script(document)) location.reload();
    painted.splice(0, 3, Date.parse(fresh.documentElement.dataset.now), performance.now(), Date.now());
    find(".foot").replaceWith(find(".foot", fresh));
  } catch {
    /* It stays as it is until the next time. */
  }
}

/* What time does by itself. */

function look() {
  const now = performance.now(), silent = now - heardAt;
  const link = silent >= OFFLINE_MS ? "offline" : silent >= LATE_MS ? "late" : "live";
  data.link = link;
  const clock = (at, ...parts) => parts.map((part) => String(at[part]()).padStart(2, "0")).join(":");
  const since = clock(heardTime, "getHours", "getMinutes", "getSeconds");
  const said = {
    live: clock(new Date(), "getHours", "getMinutes"),
    late: `reconnecting · as of ${since}`,
    offline: `offline · amount as of ${since}`,
  }[link];
  if (find(".said").textContent !== said) find(".said").textContent = said;
  if (celebratesUntil && now >= celebratesUntil) endCelebration();
  if (!celebratesUntil && now >= refreshAt) refresh();
}

let minutes = 0;

function eachMinute() {
  minutes += 1;
  const [x, y] = DRIFTS[minutes % DRIFTS.length];
  stage.style.transform = `translate(${x}px, ${y}px)`;
  heard.textContent = `${currency} ${written(Math.floor(rolling.shown), exponent)}`;
}

async function stayAwake() {
  try {
    if (document.visibilityState === "visible") await navigator.wakeLock?.request("screen");
  } catch {
    /* A browser that does not stay awake is set so by whoever put up the display. */
  }
}

fit();
look();
listen();
stayAwake();
setInterval(look, 500);
setInterval(eachMinute, MINUTE_MS);
document.addEventListener("visibilitychange", stayAwake);
document.addEventListener("dblclick", () => {
  const done = document.fullscreenElement ? document.exitFullscreen() : page.requestFullscreen();
  done.catch(() => {});
});

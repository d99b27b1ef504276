// Checks seals of the ledger in the browser: their signature, and whether the ledger kept the same. See docs/seals.md.
// Canonical bytes are those of the ledger: sorted keys, no white space, ASCII. Numbers keep their digits, for a seq may
// be larger than a number of JavaScript can hold; so the text is read by hand.

const FORMAT = "jackpot-seal-1";
const MEMBERS = "format number previous public_key_id sealed_at service_version signature stripes";
const MOST_BYTES = 64 * 2 ** 20;
const TOKEN = /[ \t\n\r]*(?:("(?:[^"\\\u0000-\u001f]|\\.)*")|(-?(?:0|[1-9]\d*))(?![\d.eE])|(true|false|null)|([{}[\],:]))/y;
const SPKI_OF_ED25519 = "302a300506032b6570032100"; // Before the 32 bytes of a key, in the format of PEM files.

class NoSeal extends Error {}

// Reads JSON into maps, lists, and texts of JSON for all else.
export function read(text) {
  let place = 0;
  const next = () => {
    TOKEN.lastIndex = place;
    const match = TOKEN.exec(text);
    if (!match) throw new NoSeal("It is not JSON of a seal.");
    place = TOKEN.lastIndex;
    return match;
  };
  const require = (mark) => {
    if (next()[4] !== mark) throw new NoSeal("It is not JSON of a seal.");
  };
  const peek = () => {
    const before = place;
    const mark = next()[4];
    place = before;
    return mark;
  };
  const members = (end, readMember) => {
    if (peek() === end) return void next();
    for (;;) {
      readMember();
      const mark = next()[4];
      if (mark === end) return;
      if (mark !== ",") throw new NoSeal("It is not JSON of a seal.");
    }
  };
  const value = (depth) => {
    const [, string, number, word, mark] = next();
    if (string !== undefined) return canonicalString(string);
    if (number !== undefined || word !== undefined) return number ?? word;
    if (depth > 8) throw new NoSeal("It is nested too deeply.");
    if (mark === "[") {
      const list = [];
      members("]", () => list.push(value(depth + 1)));
      return list;
    }
    if (mark !== "{") throw new NoSeal("It is not JSON of a seal.");
    const map = new Map();
    members("}", () => {
      const name = next()[1];
      if (name === undefined) throw new NoSeal("It is not JSON of a seal.");
      const key = canonicalString(name);
      if (map.has(key)) throw new NoSeal("It names a member twice.");
      require(":");
      map.set(key, value(depth + 1));
    });
    return map;
  };
  const document = value(0);
  if (text.slice(place).trim()) throw new NoSeal("Something follows the seal.");
  return document;
}

function canonicalString(literal) {
  let string;
  try {
    string = JSON.parse(literal);
  } catch {
    throw new NoSeal("It is not JSON of a seal.");
  }
  return JSON.stringify(string).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!(value instanceof Map)) return value;
  const names = [...value.keys()].sort((one, other) => (JSON.parse(one) < JSON.parse(other) ? -1 : 1));
  return `{${names.map((name) => `${name}:${canonical(value.get(name))}`).join(",")}}`;
}

const bytesOf = (text) => new TextEncoder().encode(text);
const fromHex = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const toHex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const sha256 = async (bytes) => toHex(await crypto.subtle.digest("SHA-256", bytes));

export function readSeal(text) {
  const seal = read(text);
  const names = seal instanceof Map ? [...seal.keys()].map((name) => JSON.parse(name)).sort() : [];
  if (names.join(" ") !== MEMBERS || seal.get('"format"') !== `"${FORMAT}"`) throw new NoSeal(`It is no seal of the format ${FORMAT}.`);
  const signature = seal.get('"signature"');
  const isWhole = /^"[0-9a-f]{128}"$/.test(signature) && /^"[0-9a-f]{64}"$/.test(seal.get('"public_key_id"'));
  if (!isWhole || !/^[1-9]\d*$/.test(seal.get('"number"')) || !Array.isArray(seal.get('"stripes"'))) {
    throw new NoSeal("It lacks what a seal has to state.");
  }
  const unsigned = new Map(seal);
  unsigned.delete('"signature"');
  return {
    number: seal.get('"number"'),
    sealedAt: JSON.parse(seal.get('"sealed_at"')),
    stripes: seal.get('"stripes"').length,
    keyId: JSON.parse(seal.get('"public_key_id"')),
    signature: fromHex(JSON.parse(signature)),
    signedBytes: bytesOf(canonical(unsigned)),
    bytes: bytesOf(canonical(seal)),
  };
}

export function keyInPem(text) {
  const body = /-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----/.exec(text);
  const hex = body ? toHex(Uint8Array.from(atob(body[1].replace(/\s/g, "")), (letter) => letter.charCodeAt(0))) : "";
  if (!hex.startsWith(SPKI_OF_ED25519) || hex.length !== SPKI_OF_ED25519.length + 64) throw new NoSeal("It is no public key of Ed25519.");
  return hex.slice(SPKI_OF_ED25519.length);
}

async function isSigned(seal, key) {
  const imported = await crypto.subtle.importKey("raw", fromHex(key), { name: "Ed25519" }, false, ["verify"]);
  return crypto.subtle.verify({ name: "Ed25519" }, imported, seal.signature, seal.signedBytes);
}

async function hasEd25519() {
  try {
    await crypto.subtle.importKey("raw", new Uint8Array(32).fill(1, 0, 1), { name: "Ed25519" }, false, ["verify"]);
    return true;
  } catch (error) {
    return error.name === "DataError"; // It knows the kind, and looked at the bytes.
  }
}

// What is said of a file: whether all is well, and sentences.
async function checked(text, keys, isOwnKey, addressOfSeals) {
  const seal = readSeal(text);
  const ids = new Map(await Promise.all(keys.map(async (key) => [await sha256(fromHex(key)), key])));
  const key = ids.get(seal.keyId);
  const lines = [`Seal ${seal.number} of ${seal.sealedAt}, over ${seal.stripes} stripes.`];
  if (key === undefined) {
    return [false, [...lines, isOwnKey ? "It was signed by another key than the one that you chose." : "The ledger knows no key of this id."]];
  }
  if (!(await isSigned(seal, key))) return [false, [...lines, "It was changed since it was signed: the signature does not fit."]];
  lines.push(`The signature is right, by key ${seal.keyId}${isOwnKey ? " of your file" : ", which the ledger publishes"}.`);
  const answer = await fetch(addressOfSeals + seal.number);
  if (answer.status === 404) return [false, [...lines, "The ledger has no seal of this number."]];
  if (!answer.ok || answer.redirected) return [true, [...lines, "The ledger did not answer whether it kept the same."]];
  const isKept = toHex(await answer.arrayBuffer()) === toHex(seal.bytes);
  return [isKept, [...lines, isKept ? "The ledger kept the same, byte by byte." : "The ledger kept another seal of this number."]];
}

function show(list, name, kind, word, lines) {
  const item = document.createElement("li");
  const head = document.createElement("p");
  const title = document.createElement("bdi");
  title.textContent = name;
  const chip = document.createElement("span");
  chip.className = `chip ${kind}`;
  chip.textContent = word;
  head.append(chip, " ", title);
  item.append(head);
  for (const line of lines) {
    const paragraph = document.createElement("p");
    paragraph.textContent = line;
    item.append(paragraph);
  }
  list.append(item);
}

async function check(files, part, list) {
  list.replaceChildren();
  if (!(await hasEd25519())) {
    const why = window.isSecureContext ? "This browser cannot check signatures of Ed25519." : "A browser checks signatures only over HTTPS.";
    show(list, "Nothing was checked", "gold", "not checked", [`${why} Use another one, or the steps below.`]);
    return;
  }
  const texts = await Promise.all(files.map(async (file) => [file.name, file.size > MOST_BYTES ? "" : await file.text()]));
  const isPem = ([, text]) => text.includes("-----BEGIN");
  const keys = [];
  for (const [name, text] of texts.filter(isPem)) {
    try {
      keys.push(keyInPem(text));
    } catch (error) {
      show(list, name, "wrong", "no key", [error.message]);
    }
  }
  const isOwnKey = texts.some(isPem);
  const published = part.dataset.keys.split(" ").filter(Boolean);
  for (const [name, text] of texts.filter((each) => !isPem(each))) {
    try {
      const [isRight, lines] = await checked(text, isOwnKey ? keys : published, isOwnKey, part.dataset.seals);
      show(list, name, isRight ? "good" : "wrong", isRight ? "right" : "wrong", lines);
    } catch (error) {
      show(list, name, "wrong", "no seal", [error instanceof NoSeal ? error.message : "It could not be checked."]);
    }
  }
}

function begin() {
  const part = document.querySelector("[data-keys]");
  if (!part) return;
  const [list, field, drop] = ["[data-checked]", "input[type=file]", "[data-drop]"].map((each) => part.querySelector(each));
  field.addEventListener("change", () => check([...field.files], part, list));
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
    drop.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", kind === "dragenter" || kind === "dragover");
      if (kind === "drop") check([...event.dataTransfer.files], part, list);
    });
  }
}

begin();

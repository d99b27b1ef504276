// What the card picker does with a script: arrow keys move between cards, the summary shows the hand as it is picked,
// and a card of another hand is marked. Without a script the boxes are the same.

const pickers = [...document.querySelectorAll("[data-picker]")];

function boxesOf(picker) {
  return [...picker.querySelectorAll("input[type=checkbox]")];
}

function show(picker) {
  const picked = picker.querySelector("[data-picked]");
  const cards = boxesOf(picker).filter((box) => box.checked).map((box) => {
    const face = box.nextElementSibling;
    const card = document.createElement("span");
    card.className = `mini ${box.parentElement.classList[1]}`;
    const seen = document.createElement("span");
    seen.setAttribute("aria-hidden", "true");
    seen.textContent = face.textContent;
    const heard = document.createElement("span");
    heard.className = "unseen";
    heard.textContent = `${box.getAttribute("aria-label")}, `;
    card.append(seen, heard);
    return card;
  });
  if (!cards.length) {
    const none = document.createElement("span");
    none.className = "quiet";
    none.textContent = "no cards";
    cards.push(none);
  }
  picked.replaceChildren(...cards);
}

function markTaken() {
  const owners = new Map();
  for (const picker of pickers) {
    for (const box of boxesOf(picker)) if (box.checked) owners.set(box.value, box);
  }
  for (const picker of pickers) {
    for (const box of boxesOf(picker)) {
      const owner = owners.get(box.value);
      box.parentElement.classList.toggle("taken", owner !== undefined && owner !== box && !box.checked);
    }
  }
}

function move(event, picker) {
  const suits = [...picker.querySelectorAll(".suit")].map((suit) => [...suit.querySelectorAll("input")]);
  const row = suits.findIndex((suit) => suit.includes(event.target));
  if (row < 0) return;
  const column = suits[row].indexOf(event.target);
  const [down, right] = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key] ?? [];
  if (down === undefined) return;
  event.preventDefault();
  suits[row + down]?.[column + right]?.focus();
}

for (const picker of pickers) {
  picker.addEventListener("change", () => { show(picker); markTaken(); });
  picker.addEventListener("keydown", (event) => move(event, picker));
  show(picker);
}
markTaken();

// Charts: what a page holds as JSON is drawn. Numbers place points; people read the texts.

const DAY = 86_400;
const NEAR = 14;
const DASHES = [[], [9, 5], [2, 4]];

const plots = new Map();

function calendar(step) {
  const parts = step >= 28 * DAY ? {month: "short", year: "numeric"}
    : step >= DAY ? {day: "numeric", month: "short"} : {hour: "2-digit", minute: "2-digit"};
  return new Intl.DateTimeFormat("en-GB", {timeZone: "UTC", ...parts});
}

const rounded = (step) =>
  new Intl.NumberFormat("en-GB", step >= 1e5 ? {notation: "compact"} : {maximumFractionDigits: 10});

const PATHS = {step: uPlot.paths.stepped({align: 1}), bars: uPlot.paths.bars({size: [0.7, 48]})};
const isFilled = ({kind}) => kind === "area-stacked" || kind === "bars";

function seriesOf(each, number, swatch, marked) {
  return {
    stroke: swatch.color,
    fill: isFilled(each) ? swatch.backgroundColor : undefined,
    width: 2,
    dash: isFilled(each) ? [] : DASHES[number % DASHES.length],
    paths: PATHS[each.kind],
    points: {size: 9, fill: swatch.color, filter: () => marked.filter((row) => each.drawn[row] !== null)},
  };
}

// The band lies below all, as two series without a line; each area is filled down to the one before it.
function layers(data, swatches) {
  const marked = data.marks.map((mark) => mark.row);
  const edge = {width: 0, points: {show: false}, paths: PATHS[data.series[0].kind]};
  const series = [{}], columns = [data.x], bands = [];
  if (data.band) {
    series.push({...edge}, {...edge});
    columns.push(data.band.low, data.band.high);
    bands.push({series: [2, 1], fill: swatches.at(-1).backgroundColor});
  }
  let below = 0;
  data.series.forEach((each, number) => {
    const place = series.push(seriesOf(each, number, swatches[number], marked)) - 1;
    columns.push(each.drawn);
    if (each.kind !== "area-stacked") return;
    if (below) bands.push({series: [place, below]});
    below = place;
  });
  return {series, columns, bands};
}

function readout(data, row) {
  const read = [...data.series, data.band].filter((each) => each?.texts[row]);
  const marks = data.marks.filter((mark) => mark.row === row);
  const texts = [...read.map((each) => `${each.label} ${each.texts[row]}`), ...marks.map((mark) => mark.text)];
  return [data.when[row], ...texts].join(" · ");
}

function draw(figure) {
  const place = figure.querySelector(".plot");
  const data = JSON.parse(figure.querySelector("template").content.textContent);
  const swatches = [...figure.querySelectorAll(".swatch")].map((swatch) => getComputedStyle(swatch));
  const {series, columns, bands} = layers(data, swatches);
  const {color, borderTopColor} = getComputedStyle(place);
  const grid = {stroke: borderTopColor, width: 1};
  const axis = {stroke: color, grid, ticks: grid, font: "12px Inter, sans-serif"};
  const isFromZero = data.series.some(isFilled);
  const end = {pad: 0.1, soft: isFromZero ? 0 : null, mode: isFromZero ? 1 : 0};
  plots.get(figure)?.destroy();
  plots.set(figure, new uPlot({
    width: place.clientWidth,
    height: place.clientHeight,
    series,
    bands,
    legend: {show: false},
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "UTC"),
    scales: {y: {range: {min: end, max: end}}},
    axes: [
      {...axis, incrs: data.steps, values: (_, splits, __, ___, step) => splits.map((at) => calendar(step).format(at * 1000))},
      {
        ...axis,
        size: (_, values) => 18 + 7 * Math.max(3, ...(values ?? []).map((text) => text?.length ?? 0)),
        values: (_, splits, __, ___, step) => splits.map(rounded(step).format),
      },
    ],
    cursor: {y: false, drag: {x: false}},
    hooks: {setCursor: [(shown) => follow(figure, data, shown)]},
  }, columns, place));
  return data;
}

const markAt = (data, row) => data.marks.find((mark) => mark.row === row && mark.href);

function follow(figure, data, plot) {
  const {idx, left} = plot.cursor;
  if (idx == null || left < 0) return;
  figure.dataset.row = idx;
  figure.querySelector(".readout").textContent = readout(data, idx);
  const isNear = Math.abs(plot.valToPos(data.x[idx], "x") - left) < NEAR;
  figure.querySelector(".plot").classList.toggle("leads", isNear && Boolean(markAt(data, idx)));
}

function goTo(figure, data, row) {
  const plot = plots.get(figure);
  const level = data.series.map((each) => each.drawn[row]).find((value) => value != null) ?? 0;
  plot.setCursor({left: plot.valToPos(data.x[row], "x"), top: plot.valToPos(level, "y")});
}

function listen(figure, data) {
  const place = figure.querySelector(".plot");
  const last = data.x.length - 1;
  place.addEventListener("keydown", (event) => {
    const row = Number(figure.dataset.row ?? last + 1);
    const keys = {ArrowLeft: row - 1, ArrowRight: row + 1, PageUp: row - 10, PageDown: row + 10, Home: 0, End: last};
    const mark = event.key === "Enter" && markAt(data, row);
    if (mark) location.assign(mark.href);
    if (!(event.key in keys)) return;
    event.preventDefault();
    goTo(figure, data, Math.min(last, Math.max(0, keys[event.key])));
  });
  place.addEventListener("click", () => {
    if (place.classList.contains("leads")) location.assign(markAt(data, Number(figure.dataset.row)).href);
  });
  new ResizeObserver(() => plots.get(figure).setSize({width: place.clientWidth, height: place.clientHeight})).observe(place);
}

function drawNew(root) {
  for (const figure of root.querySelectorAll(".chart:has(> template)")) {
    if (!plots.has(figure)) listen(figure, draw(figure));
  }
}

function redraw() {
  for (const figure of plots.keys()) {
    if (figure.isConnected) draw(figure);
    else plots.delete(figure);
  }
}

drawNew(document);
document.addEventListener("htmx:load", (event) => drawNew(event.detail.elt.parentNode ?? document));
for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", redraw);
new MutationObserver(redraw).observe(document.documentElement, {attributeFilter: ["data-scheme"]});

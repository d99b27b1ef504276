/*
 * An amount that rolls, in minor units: never above the one that was reported, and at it in the end.
 *
 * It rolls evenly from what is shown to what is reported, over the time since the report before. It falls at once.
 * Times are milliseconds of one steady clock; that of a frame may lie before the report that was taken in it.
 */
export class Rolling {
  constructor(amount, { least = 900, most = 3000 } = {}) {
    this.least = least;
    this.most = most;
    this.restart(amount);
  }

  /* Show an amount at once; the next one is rolled to slowly. */
  restart(amount) {
    this.reported = this.shown = this.from = amount;
    this.heardAt = -Infinity;
    this.began = this.lasts = 0;
  }

  report(amount, at, inSteps = false) {
    const apart = at - this.heardAt;
    this.heardAt = at;
    this.from = this.shown = Math.min(this.shown, amount);
    this.reported = amount;
    this.began = at;
    this.lasts = inSteps ? 0 : Math.min(this.most, Math.max(this.least, apart));
  }

  /* Move to a time, and return what is shown: between two whole amounts while it rolls. */
  at(time) {
    const part = this.lasts > 0 ? Math.min(1, Math.max(0, (time - this.began) / this.lasts)) : 1;
    const amount = part === 1 ? this.reported : this.from + (this.reported - this.from) * part;
    this.shown = Math.min(this.reported, Math.max(this.shown, amount));
    return this.shown;
  }

  get rolls() {
    return this.shown < this.reported;
  }
}

/*
 * How far each wheel of a counter has turned, the last first: its digit, and the part of the way to the next one.
 * A wheel turns while all wheels behind it go from nine to nought.
 */
export function turns(shown, count) {
  const whole = Math.floor(shown);
  const wheels = [];
  for (let place = 0, unit = 1, turn = shown - whole; place < count; place += 1, unit *= 10) {
    const digit = Math.floor(whole / unit) % 10;
    wheels.push([digit, turn]);
    if (digit !== 9) turn = 0;
  }
  return wheels;
}

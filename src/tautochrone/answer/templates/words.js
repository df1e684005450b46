// Numbers and times as the report sets them.
const words = (() => {
  "use strict";
  const space = "\u00a0";
  const digits = (value) => {
    const before = String(Math.trunc(Math.abs(value))).length;
    const text = value.toFixed(Math.max(0, 4 - before));
    return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  };
  const duration = (ns) => {
    for (const [unit, scale] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
      if (Math.abs(ns) >= scale * 0.99995) return digits(ns / scale) + space + unit;
    }
    return digits(ns) + space + "ns";
  };
  const number = (value) => Math.round(value).toLocaleString("en-US");
  const rate = (hz) => (hz >= 1000 ? digits(hz / 1000) + space + "kHz" : digits(hz) + space + "Hz");
  const plural = (count, noun, nouns = `${noun}s`) => `${number(count)} ${count === 1 ? noun : nouns}`;
  const ordinal = (count) => {
    const ending = { 1: "st", 2: "nd", 3: "rd" }[count % 10];
    return number(count) + (ending && Math.trunc((count % 100) / 10) !== 1 ? ending : "th");
  };
  return { duration, number, rate, plural, ordinal };
})();

// A canvas that is as sharp as the screen, and the page's colours in it.
const drawing = (() => {
  "use strict";
  const colours = {};
  const read = () => {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["paper", "raised", "ink", "muted", "rule", "hair", "grid", "missed", "series-0", "series-1", "heat-0", "heat-1", "heat-2", "heat-3", "heat-4", "heat-5"]) {
      colours[name] = style.getPropertyValue(`--${name}`).trim();
    }
    colours.sans = style.getPropertyValue("--sans");
  };
  read();
  const begin = (canvas) => {
    const box = canvas.getBoundingClientRect();
    const sharpness = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(box.width * sharpness), Math.round(box.height * sharpness)];
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    const context = canvas.getContext("2d");
    context.setTransform(sharpness, 0, 0, sharpness, 0, 0);
    context.clearRect(0, 0, box.width, box.height);
    context.font = `12px ${colours.sans}`;
    return { context, width: box.width, height: box.height };
  };
  return { colours, read, begin };
})();

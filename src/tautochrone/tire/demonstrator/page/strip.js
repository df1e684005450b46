// The last half minute: the times of the steps, and above them what was missed and what was lost.
const strip = (() => {
  "use strict";
  const [RELEASE_US, STEP_NS, DISPATCH_NS, STEPS, MISSED, SEQUENCE, LOST] = [0, 1, 2, 3, 4, 5, 6]; // as messages.py has them
  const shownUs = 30e6;
  const margin = { left: 62, right: 12, top: 56, bottom: 24 };
  const lanes = { missed: 15, lost: 34 };
  const leastGapUs = 250e3;
  const canvas = document.getElementById("strip");
  let points = [];

  // What is between a point and the one before: deadlines missed, datagrams lost, and left out for this page.
  const between = (before, point) => {
    const lost = Math.max(0, point[LOST] - before[LOST]);
    return {
      missed: Math.max(0, point[MISSED] - before[MISSED]),
      lost,
      skipped: Math.max(0, point[SEQUENCE] - before[SEQUENCE] - 1 - lost),
    };
  };
  const newest = () => points[points.length - 1];
  const set = (history) => {
    points = history;
  };
  const add = (point) => {
    if (points.length > 0 && point[SEQUENCE] <= newest()[SEQUENCE]) return; // of the history, and there already
    points.push(point);
    const from = point[RELEASE_US] - shownUs;
    while (points.length > 1 && points[1][RELEASE_US] < from) points.shift(); // one before, for what is between
  };

  // Of the last second.
  const second = () => {
    const found = { step: 0, dispatch: 0, missed: 0, lost: 0, received: 0 };
    for (let at = points.length - 1; at >= 0 && points[at][RELEASE_US] > newest()[RELEASE_US] - 1e6; at -= 1) {
      found.step = Math.max(found.step, points[at][STEP_NS]);
      found.dispatch = Math.max(found.dispatch, points[at][DISPATCH_NS]);
      found.received += 1;
      if (at > 0) {
        const { missed, lost, skipped } = between(points[at - 1], points[at]);
        found.missed += missed;
        found.lost += lost;
        found.received += skipped; // it arrived, if not here
      }
    }
    return found;
  };

  const decades = (periodNs) => {
    let [low, high] = [periodNs, periodNs];
    for (const point of points) {
      for (const value of [point[STEP_NS], point[DISPATCH_NS]]) {
        if (value > 0) [low, high] = [Math.min(low, value), Math.max(high, value)];
      }
    }
    return [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high * 1.2))];
  };

  const axes = (plot, periodNs) => {
    const { context, width, height } = plot;
    const { colours } = drawing;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (let decade = plot.low; decade <= plot.high; decade += 1) {
      const y = plot.y(10 ** decade);
      context.strokeStyle = colours.grid;
      context.beginPath();
      context.moveTo(margin.left, y);
      context.lineTo(width - margin.right, y);
      context.stroke();
      context.fillStyle = colours.muted;
      context.fillText(words.duration(10 ** decade), margin.left - 6, y);
    }
    context.fillText("missed", margin.left - 6, lanes.missed);
    context.fillText("lost", margin.left - 6, lanes.lost);
    context.textBaseline = "alphabetic";
    const steps = width < 500 ? [30, 15, 0] : [30, 25, 20, 15, 10, 5, 0];
    for (const ago of steps) {
      context.textAlign = ago === 0 ? "right" : ago === 30 ? "left" : "center";
      context.fillText(ago === 0 ? "now" : ago === 30 ? "30 s ago" : `${ago} s`, plot.x(-ago * 1e6), height - 8);
    }
    const y = plot.y(periodNs);
    context.strokeStyle = colours.ink;
    context.lineWidth = 1.5;
    context.setLineDash([2, 2]);
    context.beginPath();
    context.moveTo(margin.left, y);
    context.lineTo(width - margin.right, y);
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = colours.ink;
    context.textAlign = "left";
    context.fillText(`period ${words.duration(periodNs)}`, margin.left + 6, y - 5);
  };

  // The worst of all points that share a column of pixels; a line through these, broken where nothing came.
  const line = (plot, of, colour, dash) => {
    const { context } = plot;
    const columns = new Map();
    for (const point of points) {
      if (point[of] <= 0) continue;
      const x = Math.round(plot.x(point[RELEASE_US] - plot.nowUs));
      if (x < margin.left) continue;
      const before = columns.get(x);
      columns.set(x, { value: Math.max(before?.value ?? 0, point[of]), us: point[RELEASE_US] });
    }
    context.strokeStyle = colour;
    context.lineWidth = 1.6;
    context.lineJoin = "round";
    context.setLineDash(dash);
    context.beginPath();
    let lastUs = -Infinity;
    for (const [x, { value, us }] of columns) {
      const y = plot.y(value);
      if (us - lastUs > plot.gapUs) {
        context.moveTo(x - 0.5, y);
        context.lineTo(x + 0.5, y); // alone, it is still to be seen
      } else context.lineTo(x, y);
      lastUs = us;
    }
    context.stroke();
    context.setLineDash([]);
  };

  const marks = (plot) => {
    const { context, height } = plot;
    const { colours } = drawing;
    for (let at = 1; at < points.length; at += 1) {
      const [before, point] = [points[at - 1], points[at]];
      const x = plot.x(point[RELEASE_US] - plot.nowUs);
      if (x < margin.left) continue;
      const found = between(before, point);
      if (found.missed > 0) {
        context.strokeStyle = colours.missed;
        context.lineWidth = 1.8;
        context.beginPath();
        context.moveTo(x - 4, lanes.missed - 4);
        context.lineTo(x + 4, lanes.missed + 4);
        context.moveTo(x + 4, lanes.missed - 4);
        context.lineTo(x - 4, lanes.missed + 4);
        context.stroke();
      }
      if (found.lost + found.skipped === 0) continue;
      const from = Math.max(margin.left, plot.x(before[RELEASE_US] - plot.nowUs));
      context.fillStyle = colours.ink;
      context.strokeStyle = colours.ink;
      context.lineWidth = 1;
      if (found.lost > 0) {
        context.fillRect(x - 2, lanes.lost - 5, 4, 10);
        context.globalAlpha = 0.12;
        context.fillRect(from, margin.top, Math.max(2, x - from), height - margin.top - margin.bottom);
        context.globalAlpha = 1;
      } else context.strokeRect(x - 1.5, lanes.lost - 4.5, 3, 9);
    }
  };

  const draw = (periodNs) => {
    const { context, width, height } = drawing.begin(canvas);
    if (points.length === 0 || periodNs === null) return;
    const [low, high] = decades(periodNs);
    const inside = { width: width - margin.left - margin.right, height: height - margin.top - margin.bottom };
    const plot = {
      context, width, height, low, high,
      nowUs: newest()[RELEASE_US],
      gapUs: Math.max(leastGapUs, (3 * periodNs) / 1000),
      x: (us) => margin.left + inside.width * (1 + us / shownUs),
      y: (ns) => margin.top + inside.height * (1 - (Math.log10(ns) - low) / (high - low)),
    };
    axes(plot, periodNs);
    marks(plot);
    line(plot, DISPATCH_NS, drawing.colours["series-1"], [6, 3]);
    line(plot, STEP_NS, drawing.colours["series-0"], []);
  };

  const sentence = (periodNs) => {
    if (points.length === 0) return "Nothing has arrived yet.";
    let [step, dispatch, missed, lost] = [0, 0, 0, 0];
    points.forEach((point, at) => {
      step = Math.max(step, point[STEP_NS]);
      dispatch = Math.max(dispatch, point[DISPATCH_NS]);
      if (at > 0) {
        const found = between(points[at - 1], point);
        missed += found.missed;
        lost += found.lost;
      }
    });
    return (
      `In the last 30 seconds: longest step ${words.duration(step)}, latest start ${words.duration(dispatch)}, period ` +
      `${words.duration(periodNs)}, ${words.plural(missed, "deadline")} missed, ${words.plural(lost, "datagram")} lost.`
    );
  };
  return { set, add, second, draw, sentence, isEmpty: () => points.length === 0 };
})();

// The tire on its floor, to scale.
const tire = (() => {
  "use strict";
  const unitsPerM = 10000;
  const wall = 0.1; // thickness of the ring, in radii
  const fewEnoughToDot = 96;
  const canvas = document.getElementById("tire");
  let seen = { run: null, top: 0, half: 0 };

  // What has to fit: at least a tire that falls from its height; more once more was seen.
  const fit = (state) => {
    if (state.run !== seen.run) seen = { run: state.run, top: 3.9 * state.radius, half: 2.1 * state.radius };
    for (let at = 0; at < state.xy.length; at += 2) {
      seen.half = Math.max(seen.half, Math.abs(state.xy[at]) + 0.2 * state.radius);
      seen.top = Math.max(seen.top, state.xy[at + 1] + 0.2 * state.radius);
    }
  };

  // Where mass `node` is; between two that were sent, on the line that joins them.
  const placeOf = (state, node) => {
    const count = state.xy.length / 2;
    const before = Math.min(Math.floor(node / state.stride), count - 1);
    const after = (before + 1) % count;
    const apart = after === 0 ? state.nodes - before * state.stride : state.stride;
    const share = (node - before * state.stride) / apart;
    const mix = (of) => state.xy[2 * before + of] * (1 - share) + state.xy[2 * after + of] * share;
    return [mix(0), mix(1)];
  };

  const drawFloor = (context, width, y, scale) => {
    const { colours } = drawing;
    context.strokeStyle = colours.rule;
    context.lineWidth = 1;
    context.beginPath();
    for (let x = -20; x < width + 20; x += 10) {
      context.moveTo(x + 8, y);
      context.lineTo(x, y + 8);
    }
    context.stroke();
    context.strokeStyle = colours.ink;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(0, y);
    context.lineTo(width, y);
    context.stroke();
    const bar = 0.2 * unitsPerM * scale;
    context.fillStyle = colours.muted;
    context.fillRect(14, 22, bar, 1.5);
    context.fillRect(14, 18, 1.5, 9);
    context.fillRect(14 + bar, 18, 1.5, 9);
    context.fillText("20 cm", 20 + bar, 27);
  };

  const drawTire = (context, state, place, scale) => {
    const { colours } = drawing;
    const points = [];
    for (let at = 0; at < state.xy.length; at += 2) points.push(place(state.xy[at], state.xy[at + 1]));
    context.strokeStyle = colours.muted;
    context.globalAlpha = 0.6;
    context.lineWidth = 1;
    context.beginPath();
    for (let node = 0; node < state.nodes / 2; node += state.stride) {
      context.moveTo(...place(...placeOf(state, node)));
      context.lineTo(...place(...placeOf(state, node + state.nodes / 2)));
    }
    context.stroke();
    context.globalAlpha = 1;
    context.lineJoin = "round";
    const ring = new Path2D();
    points.forEach(([x, y], at) => (at === 0 ? ring.moveTo(x, y) : ring.lineTo(x, y)));
    ring.closePath();
    const thickness = Math.max(4, wall * state.radius * scale);
    context.strokeStyle = colours.ink;
    context.lineWidth = thickness;
    context.stroke(ring);
    context.strokeStyle = colours.muted;
    context.lineWidth = 1;
    context.stroke(ring);
    if (points.length > fewEnoughToDot) return;
    context.fillStyle = colours["series-0"];
    context.strokeStyle = colours.raised;
    for (const [x, y] of points) {
      context.beginPath();
      context.arc(x, y, Math.max(2, 0.32 * thickness), 0, 2 * Math.PI);
      context.fill();
      context.stroke();
    }
  };

  const draw = (state) => {
    const { context, width, height } = drawing.begin(canvas);
    if (state === null || state.xy.length === 0) return;
    fit(state);
    const below = 22; // pixels for the floor
    const scale = Math.min(width / (2 * seen.half), (height - below) / seen.top);
    const half = Math.max(2, (wall * state.radius * scale) / 2); // the ring lies on the floor, not in it
    drawFloor(context, width, height - below + 4, scale);
    drawTire(context, state, (x, y) => [width / 2 + x * scale, height - below + 4 - half - y * scale], scale);
  };

  const lowest = (state) => Math.min(...state.xy.filter((_, at) => at % 2)) / unitsPerM;
  const highest = (state) => Math.max(...state.xy.filter((_, at) => at % 2)) / unitsPerM;
  const widest = (state) => {
    const xs = state.xy.filter((_, at) => at % 2 === 0);
    return (Math.max(...xs) - Math.min(...xs)) / unitsPerM;
  };

  const sentence = (state) => {
    const cm = (metres) => (100 * metres).toFixed(1);
    const where = lowest(state) > 0.0005 ? `${cm(lowest(state))} cm above the floor` : "on the floor";
    return `The tire: ${where}, ${cm(highest(state) - lowest(state))} cm high and ${cm(widest(state))} cm wide.`;
  };
  const howDrawn = (state) =>
    state.stride === 1
      ? `All ${words.number(state.nodes)} masses are drawn, to scale.`
      : `Drawn from every ${words.ordinal(state.stride)} of ${words.number(state.nodes)} masses, to scale; straight lines between them.`;
  const howOld = (state) =>
    state.steps > state.step
      ? ` This is ${words.plural(state.steps - state.step, "step")} ago: the steps leave no time to copy it.`
      : "";
  return { canvas, draw, sentence, caption: (state) => howDrawn(state) + howOld(state), lowest, highest, widest };
})();

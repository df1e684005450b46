// Draws every chart of the page from the specifications that lie in it. Nothing is fetched.
(() => {
  "use strict";
  const specifications = JSON.parse(document.getElementById("charts").textContent);

  // A chart with a parameter "zoom" shows a part of its time: by the wheel, by dragging, or by these.
  const ZOOM = "zoom", SHOWN = "zoom_at";
  const STEPS = [
    ["+", "zoom in", ([low, high]) => [low + (high - low) / 4, high - (high - low) / 4]],
    ["\u2212", "zoom out", ([low, high]) => [low - (high - low) / 2, high + (high - low) / 2]],
    ["\u2190", "earlier", ([low, high]) => [low - (high - low) / 3, high - (high - low) / 3]],
    ["\u2192", "later", ([low, high]) => [low + (high - low) / 3, high + (high - low) / 3]],
    ["whole", "show the whole again", () => null],
  ];
  const HINT = "To zoom: the buttons, or the wheel with Ctrl; to move: drag. A double-click shows the whole again.";
  const addZoom = (id, specification, { view }) => {
    if (!(specification.params ?? []).some((one) => one.name === ZOOM)) return;
    const bar = document.createElement("div");
    bar.className = "zoom";
    for (const [text, meaning, moved] of STEPS) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.title = meaning;
      button.setAttribute("aria-label", meaning);
      button.addEventListener("click", () => view.signal(SHOWN, moved(view.scale("x").domain())).runAsync());
      bar.append(button);
    }
    document.getElementById(id).before(bar);
    const figure = bar.closest("figure");
    if (figure && !figure.querySelector(".hint")) {
      const hint = document.createElement("span");
      hint.className = "hint";
      hint.textContent = HINT;
      figure.querySelector("figcaption").append(hint);
    }
  };

  const drawn = Object.entries(specifications).map(([id, specification]) =>
    vegaEmbed(document.getElementById(id), specification, { renderer: "svg", actions: false, hover: false })
      .then(async (result) => {
        // How many rows a legend has follows from the width.
        const layOut = () => result.view.resize().runAsync();
        await layOut();
        window.addEventListener("resize", layOut);
        addZoom(id, specification, result);
      })
      .catch((error) => {
        const note = document.createElement("p");
        note.className = "undrawn";
        note.textContent = `This chart could not be drawn: ${error.message}. Its numbers are in the tables below.`;
        document.getElementById(id).replaceChildren(note);
        console.error(error);
      }),
  );
  Promise.all(drawn).then(() => {
    document.documentElement.dataset.charts = "drawn";
  });
  // On paper nothing can be opened by hand.
  window.addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("details")) folded.open = true;
  });
})();

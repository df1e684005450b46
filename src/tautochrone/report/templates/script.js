// Draws every chart of the page from the specifications that lie in it. Nothing is fetched.
(() => {
  "use strict";
  const specifications = JSON.parse(document.getElementById("charts").textContent);
  const drawn = Object.entries(specifications).map(([id, specification]) =>
    vegaEmbed(document.getElementById(id), specification, { renderer: "svg", actions: false, hover: false })
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

/* memosite: buttons that copy what is beside them. The page is read by now: the script is deferred. */

for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-copy]"))) {
  const { copy: id = "", name = "" } = button.dataset;
  const [place, status] = [document.getElementById(id), document.getElementById("_copied")];
  if (place) button.onclick = () => void memosite.copy(button, name, place, status);
}

/** The element of the page with this id; the page is broken without it. */
export function byId(id) {
    const found = document.querySelector(`#${id}`);
    if (found === null)
        throw new Error(`the page has lost its #${id}`);
    return found;
}
/** An element with attributes and content; texts are never taken for markup. */
export function element(tag, attributes = {}, ...content) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes))
        made.setAttribute(name, value);
    made.append(...content);
    return made;
}
/** A button that does something. */
export function button(attributes, onClick, ...content) {
    const made = element('button', { type: 'button', ...attributes }, ...content);
    made.addEventListener('click', onClick);
    return made;
}

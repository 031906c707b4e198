import { button, element } from './element.js';
import { icon } from './icons.js';
function toggle(name, label, onClick) {
    const made = button({ class: 'icon', 'aria-label': label, title: label, 'aria-pressed': 'false' }, onClick, icon(name));
    return { element: made, set: (on) => made.setAttribute('aria-pressed', String(on)) };
}
function press(name, label, onClick) {
    return button({ class: 'icon', 'aria-label': label, title: label }, onClick, icon(name));
}
/** The buttons at the side of the map. */
export function createTools(place, map, actions) {
    const list = toggle('list', 'List of places in view', actions.onList);
    const edit = toggle('pencil', 'Edit', actions.onEdit);
    const { onExplain } = actions;
    const explain = onExplain && toggle('explain', 'Explain what this map costs', onExplain);
    const theme = press('moon', 'Dark map', actions.onTheme);
    const graphiql = element('a', { class: 'icon', href: '/graphiql/', 'aria-label': 'GraphiQL', title: 'GraphiQL' }, icon('code'));
    const group = (...content) => element('div', { class: 'panel group' }, ...content);
    place.replaceChildren(group(press('plus', 'Zoom in', () => map.zoomIn()), press('minus', 'Zoom out', () => map.zoomOut())), group(list.element, edit.element, ...(explain ? [explain.element] : [])), group(theme, graphiql));
    return {
        list,
        edit,
        explain,
        setTheme(now) {
            const label = now === 'dark' ? 'Light map' : 'Dark map';
            theme.replaceChildren(icon(now === 'dark' ? 'sun' : 'moon'));
            theme.setAttribute('aria-label', label);
            theme.title = label;
        },
    };
}

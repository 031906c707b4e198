import { pathOf } from '../../access/server.js';
import { button, element } from '../dom/element.js';
import { icon } from '../dom/icons.js';

export interface MoreActions {
  readonly onKeys: () => void;
}

const ROW_PX = 48;

/** A menu row that turns full screen on or off; empty if the browser does not support it. */
function fullScreenRow(): HTMLElement[] {
  if (!document.fullscreenEnabled) return [];
  const row = button({}, () => {
    if (document.fullscreenElement) void document.exitFullscreen();
    else document.documentElement.requestFullscreen().catch(() => undefined);
  });
  const draw = () => row.replaceChildren(icon('full'), document.fullscreenElement ? 'Exit full screen' : 'Full screen');
  document.addEventListener('fullscreenchange', draw);
  draw();
  return [row];
}

/** The button for the less frequent actions, and their menu. */
export function createMore({ onKeys }: MoreActions): readonly [opener: HTMLElement, menu: HTMLElement] {
  const rows = [
    ...fullScreenRow(),
    button({}, onKeys, icon('keys'), 'Keys'),
    element('a', { href: pathOf('graphiql/') }, icon('code'), 'GraphiQL'),
  ];
  const menu = element('div', { id: 'more', class: 'panel', popover: 'auto' }, ...rows);
  menu.addEventListener('click', () => menu.hidePopover());
  const label = { 'aria-label': 'More', title: 'More' };
  const opener = element('button', { type: 'button', class: 'icon', popovertarget: 'more', ...label }, icon('more'));
  menu.addEventListener('beforetoggle', () => {
    const lowest = innerHeight - menu.childElementCount * ROW_PX;
    menu.style.top = `${Math.max(0, Math.min(opener.getBoundingClientRect().top, lowest))}px`;
  });
  return [opener, menu];
}

import { ChevronDownIcon, DropdownMenu, pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { createElement } from 'react';

import { menu, type Example } from './examples.js';

/** "Zones of a map" from "ZonesOfAMap". */
const words = (name: string) =>
  name.charAt(0) + name.slice(1).replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** A menu of examples; each opens in a new tab. */
export function ExamplesMenu() {
  const actions = useGraphiQLActions();
  const { queryEditor, headerEditor } = useGraphiQL(pick('queryEditor', 'headerEditor'));
  const open = ({ query, headers }: Example) => {
    actions.addTab();
    queryEditor?.setValue(query);
    headerEditor?.setValue(headers ?? '');
  };
  const items = menu.map((example) =>
    createElement(DropdownMenu.Item, { key: example.name, onSelect: () => open(example) }, words(example.name)),
  );
  return createElement(
    DropdownMenu,
    null,
    createElement(
      DropdownMenu.Button,
      { className: 'examples-menu' },
      'More examples ',
      createElement(ChevronDownIcon, { 'aria-hidden': true }),
    ),
    createElement(DropdownMenu.Content, null, ...items),
  );
}

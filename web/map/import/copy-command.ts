import { button, element } from '../dom/element.js';

/** A command with a button that copies it, or selects it where the browser does not allow copying. */
export function copyCommand(command: string): HTMLElement {
  const code = element('code', {}, command);
  const copy = button({ 'aria-label': `Copy: ${command}` }, () => void act(), 'Copy');
  async function act(): Promise<void> {
    try {
      await navigator.clipboard.writeText(command);
      copy.textContent = 'Copied';
    } catch {
      getSelection()?.selectAllChildren(code);
    }
  }
  return element('p', { class: 'command' }, code, copy);
}

import { button, element } from '../dom/element.js';

/** The form that asks for the name of a new marker, and its input field. */
export function nameForm(collection: string, onAdd: (name: string) => void, onCancel: () => void) {
  const name = element('input', { name: 'name', required: '', maxlength: '200', autocomplete: 'off' });
  const add = element('button', { class: 'act', type: 'submit' }, 'Add');
  const form = element(
    'form',
    {},
    element('h2', {}, `New place in ${collection}`),
    element('label', {}, 'Name', name),
    element('div', { class: 'buttons' }, button({}, onCancel, 'Cancel'), add),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    onAdd(name.value.trim());
  });
  return { form, name };
}

// The vertices that the picture is drawn around, and those whose neighbours were added: above the picture, where a
// person sees why it is as it is.

import { button, el, put } from '../dom/element';
import type { App } from '../state/app';

export function drawnChips({ store }: App): HTMLElement {
    const list = el('ul', { class: 'chips drawn', id: 'drawn', 'aria-label': 'Drawn' });
    const chip = (id: string, text: string, remove: () => void): HTMLElement =>
        el('li', {}, `${text} `, el('span', { class: 'id' }, id), button('×', remove, { class: 'quiet', 'aria-label': `Remove ${text} ${id}` }));
    const renew = (): void => {
        const { focus, expanded } = store.state;
        list.hidden = focus.length + expanded.length === 0;
        put(list,
            ...focus.map((id) => chip(id, 'around', () => store.change({ focus: focus.filter((one) => one !== id) }))),
            ...expanded.map((id) => chip(id, 'expanded', () => store.change({ expanded: expanded.filter((one) => one !== id) }))));
    };
    store.listen((state, before) => {
        if (state.focus !== before.focus || state.expanded !== before.expanded) renew();
    });
    renew();
    return list;
}

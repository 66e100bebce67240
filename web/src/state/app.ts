// What all panels share: the database, the state, the content and the answer, and who is told when they change.

import type { Database, Version } from '../api/types';
import { type Content, empty } from '../content/content';
import { allDrawn } from '../content/expand';
import { say } from '../dom/announce';
import { Run } from '../algorithms/run';
import { type Store, halfOf } from './state';

export class App {
    content: Content = empty();
    versions: Version[] = [];
    readonly run: Run;
    /** Whether what is chosen could not be drawn, so that the content is that of before. */
    isStale = false;
    /** Conditions that the server refused, and its words. */
    wrong = new Map<string, string>();
    private drawn: (() => void)[] = [];
    private refused: (() => void)[] = [];

    constructor(public database: Database, readonly store: Store) {
        this.run = new Run(this);
    }

    get state() {
        return this.store.state;
    }

    /** The version or time that calls name: never "the newest", which would change between two calls. */
    readonly at = (): string => this.state.at ?? String(this.database.latest);

    onContent(listener: () => void): void {
        this.drawn.push(listener);
    }

    onWrong(listener: () => void): void {
        this.refused.push(listener);
    }

    setWrong(wrong: Map<string, string>): void {
        this.wrong = wrong;
        for (const listener of this.refused) listener();
    }

    setContent(content: Content): void {
        this.content = content;
        this.isStale = false;
        for (const listener of this.drawn) listener();
    }

    /** Selects a vertex; one that is not in the picture comes with what is around it. */
    visit(id: string): void {
        if (!this.isStale && this.content.vertices.has(id)) this.store.change({ selected: id });
        else this.around(id);
    }

    /** Draws what is around one vertex, and nothing else. */
    around(id: string): void {
        this.store.change({ focus: [id], expanded: [], selected: id, path: halfOf(this.state.path), difference: null });
    }

    /** The picture without what was added to it. */
    whole(): void {
        this.store.change({ focus: [], expanded: [], path: halfOf(this.state.path), difference: null });
    }

    /** Adds the neighbours of a vertex to the picture. */
    expand(id: string): void {
        const { expanded, difference } = this.state;
        const before = this.content.expansions.get(id);
        if (before && difference === null) say(allDrawn(id, before));
        this.store.change({ selected: id, expanded: expanded.includes(id) ? expanded : [...expanded, id], difference: null });
    }
}

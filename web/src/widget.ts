// The picture alone, as a widget of notebooks (anywidget): what Python gives is drawn; the selection, and vertices that
// were dragged, go back. It asks no server.

import { type Content, empty, newVertex } from './content/content';
import { el } from './dom/element';
import { theme } from './picture/colours';
import type { Look } from './picture/look';
import { Picture, canDraw } from './picture/picture';

interface Scene {
    directed: boolean;
    vertices: { id: string; x: number; y: number; colour: string; size: number }[];
    /** The places of the ends, and the number of edges. */
    edges: [number, number, number][];
    legend: { colour: string; text: string }[];
    found: number;
}

/** What anywidget hands over: values that both sides share. */
interface Model {
    get(name: 'scene'): Scene;
    get(name: 'height'): number;
    get(name: 'chosen'): number[];
    get(name: 'moved'): Record<string, [number, number]>;
    set(name: string, value: unknown): void;
    save_changes(): void;
    on(event: string, changed: () => void): void;
    off(event: string, changed: () => void): void;
}

const RADIUS_MIN = 4;
const RADIUS_MAX = 15;

function contentOf(scene: Scene, moved: Record<string, [number, number]>): Content {
    const content = empty();
    scene.vertices.forEach((vertex, place) => {
        const [x, y] = moved[place] ?? [vertex.x, vertex.y];
        content.vertices.set(vertex.id, { ...newVertex(vertex.id, null, {}), x, y, size: vertex.size });
    });
    content.edges = scene.edges.map(([source, target, count]) => ({ source: scene.vertices[source].id, target: scene.vertices[target].id, count, mark: null }));
    return content;
}

function lookOf(scene: Scene): Look {
    const colours = new Map(scene.vertices.map((vertex) => [vertex.id, vertex.colour]));
    return {
        vertexColour: (vertex) => colours.get(vertex.id) ?? theme().plain,
        vertexSize: (vertex) => RADIUS_MIN + vertex.size * (RADIUS_MAX - RADIUS_MIN),
        edgeColour: () => theme().edge,
        edgeSize: (edge) => Math.min(1 + Math.log2(Math.max(edge.count, 1)) * 0.5, 4),
        legend: { title: '', lines: scene.legend, note: '' },
    };
}

function legendOf(scene: Scene): HTMLElement {
    const line = ({ colour, text }: { colour: string; text: string }): HTMLElement => {
        const dot = el('span', {});
        dot.style.cssText = `display:inline-block;width:10px;height:10px;border-radius:5px;margin-right:6px;background:${colour}`;
        return el('div', {}, dot, text);
    };
    const shown = scene.vertices.length;
    const measure = shown < scene.found ? [el('div', {}, `${shown} of ${scene.found} vertices`)] : [];
    const legend = el('div', { class: 'esker-legend' }, ...scene.legend.map(line), ...measure);
    legend.style.cssText = `position:absolute;left:8px;top:8px;font:12px system-ui,sans-serif;color:${theme().text};pointer-events:none`;
    return legend;
}

/** Draws into an element, and returns what ends it. */
function render({ model, el: host }: { model: Model; el: HTMLElement }): () => void {
    if (!canDraw()) {
        host.append(el('p', {}, 'This browser has no WebGL: `display(widget.picture)` shows the picture without it.'));
        return () => undefined;
    }
    const frame = el('div', { class: 'esker-picture', tabindex: 0, role: 'img', 'aria-label': `A graph of ${model.get('scene').vertices.length} vertices` });
    const stage = el('div', {});
    stage.style.cssText = 'position:absolute;inset:0';
    host.append(frame);
    const places = new Map<string, number>();
    const choose = (id: string | null, more: boolean): void => {
        const place = id === null ? undefined : places.get(id);
        const before = more ? model.get('chosen').filter((other) => other !== place) : [];
        const taken = more && place !== undefined && model.get('chosen').includes(place);
        model.set('chosen', place === undefined || taken ? before : [...before, place]);
        model.save_changes();
        mark();
    };
    const listener = {
        select: choose,
        expand: (id: string) => picture.centre(id),
        move: (id: string, x: number, y: number) => {
            model.set('moved', { ...model.get('moved'), [places.get(id) as number]: [x, y] });
            model.save_changes();
        },
    };
    const picture = new Picture(stage, listener, model.get('scene').directed);
    const mark = (): void => {
        const ids = model.get('chosen').map((place) => model.get('scene').vertices[place]?.id).filter((id) => id !== undefined);
        picture.choose(ids);
    };
    const draw = (): void => {
        const scene = model.get('scene');
        frame.style.cssText = `position:relative;box-sizing:border-box;height:${model.get('height')}px;background:${theme().ground};border:1px solid ${theme().faint}`;
        frame.replaceChildren(stage, legendOf(scene));
        places.clear();
        scene.vertices.forEach((vertex, place) => places.set(vertex.id, place));
        picture.show(contentOf(scene, model.get('moved')), lookOf(scene));
        mark();
    };
    const keys = (event: KeyboardEvent): void => {
        const steps: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
        const step = steps[event.key];
        if (step) picture.step(...step);
        else if (event.key === '+' || event.key === '-') picture.zoom(event.key === '+' ? 0.8 : 1.25);
        else if (event.key === '0') picture.fit();
        else if (event.key === 'Escape') choose(null, false);
        else return;
        event.preventDefault();
        event.stopPropagation();
    };
    frame.addEventListener('keydown', keys);
    model.on('change:scene', draw);
    model.on('change:height', draw);
    model.on('change:chosen', mark);
    draw();
    return () => {
        model.off('change:scene', draw);
        model.off('change:height', draw);
        model.off('change:chosen', mark);
        picture.end();
        frame.remove();
    };
}

export default { render };

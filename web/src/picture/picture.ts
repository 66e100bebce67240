// The picture, drawn by sigma with WebGL. It knows contents and looks, nothing of the server or the state.

import { MultiDirectedGraph } from 'graphology';
import Sigma from 'sigma';
import { EdgeArrowProgram, EdgeRectangleProgram } from 'sigma/rendering';
import type { Content } from '../content/content';
import { theme } from './colours';
import { Labels, drawHover } from './labels';
import type { Look } from './look';

export interface Listener {
    /** `more`: beside those that are selected. */
    select(id: string | null, more: boolean): void;
    expand(id: string): void;
    /** A vertex was dragged here, in the coordinates of the content. Without this, none can be. */
    move?(id: string, x: number, y: number): void;
}

export class Picture {
    private sigma: Sigma | null = null;
    private readonly graph = new MultiDirectedGraph();
    private selected: string | null = null;
    private hovered: string | null = null;
    private near = new Set<string>();
    private chosen = new Set<string>();
    private dropped = false;
    private readonly resizes = new ResizeObserver(() => this.sigma?.resize()?.refresh());

    constructor(private readonly container: HTMLElement, private readonly listener: Listener, private readonly directed: boolean) {
        this.resizes.observe(container);
    }

    /** Frees what the browser holds for it. */
    end(): void {
        this.resizes.disconnect();
        this.sigma?.kill();
        this.sigma = null;
    }

    /** Draws a content. The camera stays if most vertices were there before. */
    show(content: Content, look: Look): void {
        let kept = 0;
        for (const id of content.vertices.keys()) if (this.graph.hasNode(id)) kept += 1;
        const stays = kept * 2 > this.graph.order && kept > 0;
        this.graph.clear();
        for (const vertex of content.vertices.values()) {
            const important = vertex.mark === 'path';
            this.graph.addNode(vertex.id, { x: vertex.x, y: -vertex.y, label: vertex.id, important, ...this.nodeLook(vertex, look) });
        }
        for (const edge of content.edges) {
            if (!content.vertices.has(edge.source) || !content.vertices.has(edge.target)) continue;
            const marked = edge.mark !== null;
            this.graph.addEdge(edge.source, edge.target, { color: look.edgeColour(edge), size: look.edgeSize(edge), marked, zIndex: marked ? 1 : 0 });
        }
        if (this.selected !== null && !this.graph.hasNode(this.selected)) this.hover(null);
        this.start();
        if (!stays) this.fit(false);
        this.sigma?.refresh();
    }

    /** Draws the same content in another look. */
    paint(content: Content, look: Look): void {
        for (const vertex of content.vertices.values()) {
            if (this.graph.hasNode(vertex.id)) this.graph.mergeNodeAttributes(vertex.id, this.nodeLook(vertex, look));
        }
        this.sigma?.refresh();
    }

    select(id: string | null): void {
        this.selected = id;
        this.remember();
        this.sigma?.refresh({ skipIndexation: true });
    }

    /** Marks several vertices, and brings the last of them out as `select` does. */
    choose(ids: string[]): void {
        this.chosen = new Set(ids);
        this.select(ids.at(-1) ?? null);
    }

    /** Shows everything. */
    fit(animated = true): void {
        const camera = this.sigma?.getCamera();
        if (animated) void camera?.animatedReset({ duration: 200 });
        else camera?.setState({ x: 0.5, y: 0.5, ratio: 1, angle: 0 });
    }

    zoom(factor: number): void {
        const camera = this.sigma?.getCamera();
        if (camera) void camera.animate({ ratio: camera.ratio * factor }, { duration: 120 });
    }

    /** Moves the selected vertex, or another, to the middle. */
    centre(id: string | null = this.selected): void {
        const place = id === null ? undefined : this.sigma?.getNodeDisplayData(id);
        if (place) void this.sigma?.getCamera().animate({ x: place.x, y: place.y }, { duration: 200 });
    }

    /** Places on the screen, for saving: the camera's part of the picture. */
    toScreen(id: string): { x: number; y: number; radius: number } | null {
        const data = this.sigma?.getNodeDisplayData(id);
        if (!this.sigma || !data) return null;
        const place = this.sigma.framedGraphToViewport(data);
        return { ...place, radius: this.sigma.scaleSize(data.size) };
    }

    screen(): { width: number; height: number } {
        return { width: this.container.clientWidth, height: this.container.clientHeight };
    }

    /** Selects the nearest vertex in a direction: what arrow keys do. */
    step(dx: number, dy: number): void {
        const from = this.selected === null ? { x: this.container.clientWidth / 2, y: this.container.clientHeight / 2 } : this.toScreen(this.selected);
        if (!from) return;
        let best: { id: string; cost: number } | null = null;
        for (const id of this.graph.nodes()) {
            const place = this.toScreen(id);
            if (!place || id === this.selected) continue;
            const along = (place.x - from.x) * dx + (place.y - from.y) * dy;
            const aside = Math.abs((place.x - from.x) * dy) + Math.abs((place.y - from.y) * dx);
            if (along <= 0) continue;
            const cost = along + aside * 2;
            if (!best || cost < best.cost) best = { id, cost };
        }
        if (best) this.listener.select(best.id, false);
    }

    private nodeLook(vertex: Parameters<Look['vertexColour']>[0], look: Look): { color: string; size: number } {
        return { color: look.vertexColour(vertex), size: look.vertexSize(vertex) };
    }

    private hover(id: string | null): void {
        this.hovered = id;
        this.remember();
        this.sigma?.refresh({ skipIndexation: true });
    }

    /** The vertices next to the hovered or selected one: the others step back. */
    private remember(): void {
        const id = this.hovered ?? this.selected;
        this.near = new Set(id !== null && this.graph.hasNode(id) ? [id, ...this.graph.neighbors(id)] : []);
    }

    private start(): void {
        if (this.sigma) {
            this.sigma.setSetting('labelColor', { color: theme().text });
            return;
        }
        const labels = new Labels();
        const sigma = new Sigma(this.graph, this.container, {
            allowInvalidContainer: true, zIndex: true, minCameraRatio: 0.02, maxCameraRatio: 4, stagePadding: 48,
            defaultEdgeType: this.directed ? 'arrow' : 'line', edgeProgramClasses: { arrow: EdgeArrowProgram, line: EdgeRectangleProgram },
            labelFont: 'system-ui, sans-serif', labelSize: 12, labelColor: { color: theme().text }, labelDensity: 2, labelGridCellSize: 110,
            labelRenderedSizeThreshold: 4, defaultDrawNodeHover: drawHover, defaultDrawNodeLabel: labels.draw,
            nodeReducer: (id, data) => this.nodeReduced(id, data), edgeReducer: (edge, data) => this.edgeReduced(edge, data),
        });
        sigma.on('beforeRender', labels.begin);
        const clicked = (id: string | null, more: boolean): void => {
            // The end of a drag is a click to sigma.
            if (!this.dropped) this.listener.select(id, more);
            this.dropped = false;
        };
        sigma.on('clickNode', ({ node, event }) => clicked(node, event.original.shiftKey));
        sigma.on('clickStage', () => clicked(null, false));
        sigma.on('doubleClickNode', ({ node, preventSigmaDefault }) => {
            preventSigmaDefault();
            this.listener.expand(node);
        });
        sigma.on('enterNode', ({ node }) => this.hover(node));
        sigma.on('leaveNode', () => this.hover(null));
        if (this.listener.move) this.letDrag(sigma, this.listener.move);
        this.sigma = sigma;
    }

    private letDrag(sigma: Sigma, move: NonNullable<Listener['move']>): void {
        let dragged: { id: string; moved: boolean } | null = null;
        sigma.on('downNode', ({ node }) => {
            dragged = { id: node, moved: false };
            this.dropped = false;
        });
        sigma.on('moveBody', ({ event }) => {
            if (!dragged) return;
            // The ground stays where it is, though the outermost vertex may move.
            if (!sigma.getCustomBBox()) sigma.setCustomBBox(sigma.getBBox());
            dragged.moved = true;
            this.graph.mergeNodeAttributes(dragged.id, sigma.viewportToGraph(event));
            event.preventSigmaDefault();
            event.original.preventDefault();
        });
        const drop = (): void => {
            const done = dragged;
            dragged = null;
            this.dropped = done?.moved === true;
            if (done?.moved) move(done.id, this.graph.getNodeAttribute(done.id, 'x'), -this.graph.getNodeAttribute(done.id, 'y'));
        };
        sigma.on('upNode', drop);
        sigma.on('upStage', drop);
    }

    private nodeReduced(id: string, data: Record<string, unknown>): Record<string, unknown> {
        const near = this.near.size === 0 || this.near.has(id) || data.important === true;
        const selected = id === this.selected || this.chosen.has(id);
        return {
            ...data, highlighted: selected, zIndex: selected ? 2 : near ? 1 : 0,
            color: near ? data.color : theme().faint,
            label: near ? data.label : '',
            forceLabel: near && (data.important === true || selected),
        };
    }

    private edgeReduced(edge: string, data: Record<string, unknown>): Record<string, unknown> {
        const middle = this.hovered ?? this.selected;
        if (this.near.size === 0 || data.marked === true || middle === null) return data;
        const [source, target] = this.graph.extremities(edge);
        const touches = source === middle || target === middle;
        return { ...data, color: touches ? theme().other : theme().faint, zIndex: touches ? 1 : 0 };
    }
}

/** Whether the browser can draw the picture. */
export function canDraw(): boolean {
    return document.createElement('canvas').getContext('webgl2') !== null;
}

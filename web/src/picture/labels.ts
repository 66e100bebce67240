// The labels of vertices: drawn where no other label is, with a border in the colour of the ground, so that they can
// be read over edges. And the label of the vertex under the pointer, or the selected one.

import type { NodeHoverDrawingFunction, NodeLabelDrawingFunction } from 'sigma/rendering';
import { theme } from './colours';

interface Box { left: number; right: number; top: number; bottom: number }

/** The places of labels in one picture: none overlaps another. */
export class LabelRoom {
    private readonly taken: Box[] = [];

    /** Takes the room of a label of this size that begins at (x, y), if it is free or must be had. */
    take(x: number, y: number, width: number, size: number, forced: boolean): boolean {
        const box = { left: x, right: x + width, top: y - size * 0.6, bottom: y + size * 0.6 };
        const meets = (other: Box): boolean =>
            box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom;
        if (!forced && this.taken.some(meets)) return false;
        this.taken.push(box);
        return true;
    }
}

/** Long ids end in an ellipsis; the panel shows them whole. */
const CHARACTERS_MAX = 32;

export function shortened(label: string): string {
    return label.length > CHARACTERS_MAX ? `${label.slice(0, CHARACTERS_MAX - 1)}…` : label;
}

/** Where a label begins: to the right of its vertex, or to the left where the picture ends. */
function beside(context: CanvasRenderingContext2D, vertex: { x: number; y: number; size: number }, width: number): number {
    const right = vertex.x + vertex.size + 4;
    const end = context.canvas.clientWidth;
    return right + width > end && vertex.x < end ? vertex.x - vertex.size - 4 - width : right;
}

export class Labels {
    private room = new LabelRoom();

    /** Begins a frame. */
    readonly begin = (): void => {
        this.room = new LabelRoom();
    };

    readonly draw: NodeLabelDrawingFunction = (context, data, settings) => {
        if (typeof data.label !== 'string' || data.label === '') return;
        const size = settings.labelSize;
        context.font = `${settings.labelWeight} ${size}px ${settings.labelFont}`;
        const label = shortened(data.label);
        const width = context.measureText(label).width;
        const left = beside(context, data, width);
        if (!this.room.take(left, data.y, width, size, data.forceLabel === true)) return;
        context.lineWidth = 3;
        context.lineJoin = 'round';
        context.strokeStyle = theme().ground;
        context.strokeText(label, left, data.y + size / 3);
        context.fillStyle = theme().text;
        context.fillText(label, left, data.y + size / 3);
    };
}

export const drawHover: NodeHoverDrawingFunction = (context, data, settings) => {
    const { ground, text, ring } = theme();
    const size = settings.labelSize;
    context.font = `600 ${size}px ${settings.labelFont}`;
    if (typeof data.label === 'string') {
        const label = shortened(data.label);
        const width = context.measureText(label).width;
        context.fillStyle = ground;
        context.globalAlpha = 0.92;
        const left = beside(context, data, width);
        context.fillRect(left - 3, data.y - size * 0.8, width + 6, size * 1.6);
        context.globalAlpha = 1;
        context.fillStyle = text;
        context.fillText(label, left, data.y + size / 3);
    }
    context.strokeStyle = ring;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(data.x, data.y, data.size + 2, 0, Math.PI * 2);
    context.stroke();
};

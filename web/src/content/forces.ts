// Places of vertices that the server has not placed: neighbours added by an expansion, vertices of a path, those of
// a difference. Springs and repulsion; the placed ones stay where they are, so a picture grows without moving.
// Without random numbers: a link shows the same picture again. O(rounds * new * all).

import type { Content, Vertex } from './content';

const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));

/** The usual distance between joined vertices of a content. */
export function spacing(content: Content): number {
    let sum = 0;
    let number = 0;
    for (const edge of content.edges) {
        const a = content.vertices.get(edge.source);
        const b = content.vertices.get(edge.target);
        if (!a || !b || a === b) continue;
        sum += Math.hypot(a.x - b.x, a.y - b.y);
        number += 1;
    }
    return sum > 0 ? sum / number : 100;
}

/** Begins at places on a spiral around a vertex, or around the origin. */
export function spiral(vertices: Vertex[], around: { x: number; y: number }, step: number): void {
    vertices.forEach((vertex, place) => {
        const radius = step * Math.sqrt(place + 1) * 0.6;
        vertex.x = around.x + radius * Math.cos(place * GOLDEN_ANGLE);
        vertex.y = around.y + radius * Math.sin(place * GOLDEN_ANGLE);
    });
}

/** Moves the vertices of `free`, and no others, for some rounds. */
export function relax(content: Content, free: Vertex[], step: number, rounds: number): void {
    const all = [...content.vertices.values()];
    const moving = new Map(free.map((vertex) => [vertex, { x: 0, y: 0 }]));
    const springs = content.edges
        .map((edge) => ({ a: content.vertices.get(edge.source), b: content.vertices.get(edge.target) }))
        .filter(({ a, b }) => a && b && a !== b && (moving.has(a) || moving.has(b))) as { a: Vertex; b: Vertex }[];
    for (let round = 0; round < rounds; round += 1) {
        for (const [vertex, force] of moving) repel(vertex, all, force, step);
        for (const { a, b } of springs) {
            const [dx, dy] = [b.x - a.x, b.y - a.y];
            const pull = Math.hypot(dx, dy) / step;
            add(moving.get(a), dx * pull, dy * pull);
            add(moving.get(b), -dx * pull, -dy * pull);
        }
        const limit = step * (1 - round / rounds) * 0.5;
        for (const [vertex, force] of moving) {
            const length = Math.hypot(force.x, force.y);
            const scale = length > 0 ? Math.min(length * 0.1, limit) / length : 0;
            vertex.x += force.x * scale;
            vertex.y += force.y * scale;
            force.x = force.y = 0;
        }
    }
}

function repel(vertex: Vertex, all: Vertex[], force: { x: number; y: number }, step: number): void {
    for (const other of all) {
        const dx = vertex.x - other.x;
        const dy = vertex.y - other.y;
        const square = dx * dx + dy * dy;
        // What is far away would only push the new ones outwards.
        if (other === vertex || square > step * step * 25) continue;
        const push = (step * step) / (square + step * step * 0.01);
        force.x += dx * push;
        force.y += dy * push;
    }
}

function add(force: { x: number; y: number } | undefined, x: number, y: number): void {
    if (!force) return;
    force.x += x;
    force.y += y;
}

// What the server answers. The OpenAPI document of the server (`/api/v1/openapi.json`) is the reference.

export type Properties = Record<string, unknown>;

export interface Property { name: string; type: string }
export interface Moment { value: number; text: string }

export interface Database {
    name: string;
    esker_version: string;
    latest: number;
    directed: boolean;
    weighted: boolean;
    vertices: number;
    edges: number;
    edge_properties: Property[];
    vertex_properties: Property[];
    kinds: string[] | null;
    event_times: { from: Moment; to: Moment } | null;
}

export interface Version {
    version: number;
    /** Milliseconds since 1970. */
    time: number;
    vertices: number;
    edges: number;
    tag: string | null;
    message: string | null;
}

export interface Versions { versions: Version[]; shown: number; found: number }
export interface Completion { vertices: { id: string; degree: number }[]; shown: number; found: number | null }
export interface Vertex { id: string; out_degree: number; in_degree: number | null; properties: Properties }

export interface Neighbor {
    id: string;
    direction: 'out' | 'in' | 'both';
    count: number;
    degree: number;
    weight?: number;
    /** Of the edge, the first of several. */
    properties: Properties;
    vertex_properties?: Properties;
}

export interface Neighbors { shown: number; found: number; neighbors: Neighbor[] }

export interface SceneVertex {
    id: string;
    x: number;
    y: number;
    size: number;
    colour: string;
    group: unknown;
    label: string;
    degree: number;
    properties: Properties;
}

export interface LegendEntry { group: unknown; label: string; colour: string }

export interface Scene {
    shown: number;
    found: number;
    vertices: SceneVertex[];
    edges: { source: number; target: number; count: number; weight?: number }[];
    legend: LegendEntry[] | null;
}

export interface EdgeOfIds { source: string; target: string; count?: number; weight?: number; properties?: Properties }
export interface Subgraph { edges: EdgeOfIds[]; shown: number; found: number }
export interface Path { found: boolean; length: number | null; vertices: string[]; edges: EdgeOfIds[] }

export interface Option {
    name: string;
    about: string;
    type: string;
    choices: string[] | null;
    default: unknown;
    required: boolean;
    repeatable?: boolean;
}

export interface Algorithm {
    name: string;
    about: string;
    columns: string[];
    figures: string[];
    undirected: boolean;
    options: Option[];
}

export interface Catalogue { groups: { question: string; algorithms: Algorithm[] }[] }
export interface Estimate { memory_bytes: number; seconds: number | null; fits: boolean; text: string }

export interface Column { name: string; type: string }

export interface Done {
    seconds: number;
    figures: Properties;
    columns: Column[];
    rows: number;
    /** Whether rows are edges. */
    edges?: boolean;
    notes?: string[];
    command: string;
    python: string;
}

/** Of a vertex: its id. Of an edge: its ends. And the values of the columns. */
export type Row = { id?: string; source?: string; target?: string } & Record<string, unknown>;
export interface Rows { rows: Row[]; shown: number; found: number }

export interface Histogram {
    bins?: { from: number; to: number; count: number }[];
    groups?: { value: unknown; count: number }[];
}

export interface WindowCounts { from: Moment; to: Moment; counts: number[]; limits: string[] }

export interface Change {
    source?: string;
    target?: string;
    vertex?: string;
    property?: string;
    old?: unknown;
    new?: unknown;
    properties?: Properties;
}

export interface Difference { added: Change[]; removed: Change[]; changed: Change[]; shown: number; found: number }

// Builds the page of `esker serve` into web/dist: three files, compressed, which the program embeds. So `cargo build` needs no Node. And the
// widget for notebooks, one file of the Python package.
//
//     node build.mjs           writes all
//     node build.mjs --check   fails if they differ from what the sources give
//     node build.mjs --plain FOLDER   writes them uncompressed, to look at while working on them

import { build } from 'esbuild';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, 'dist');
const WIDGET = 'widget.js';
const BYTES_MAX = 120 * 1024;

/** Where a file goes. */
const folderOf = (name) => (name === WIDGET ? join(here, '../python/esker') : dist);

/** The files by name, as bytes. */
async function files() {
    const common = { bundle: true, minify: true, write: false, charset: 'utf8', legalComments: 'none', logLevel: 'warning' };
    const scripts = { absWorkingDir: here, target: 'es2022', define: { 'process.env.NODE_ENV': '"production"' } };
    const script = await build({
        ...common,
        ...scripts,
        entryPoints: ['src/main.ts'],
        format: 'iife',
    });
    const widget = await build({ ...common, ...scripts, entryPoints: ['src/widget.ts'], format: 'esm' });
    const style = await build({ ...common, absWorkingDir: here, entryPoints: ['src/app.css'], target: ['chrome112', 'firefox115', 'safari16'] });
    const markup = await readFile(join(here, 'src/index.html'), 'utf8');
    return {
        'index.html': Buffer.from(markup.replace(/>\s+</g, '><').trim() + '\n'),
        'app.js': Buffer.from(script.outputFiles[0].contents),
        'app.css': Buffer.from(style.outputFiles[0].contents),
        [WIDGET]: Buffer.from(widget.outputFiles[0].contents),
    };
}

/** Compressed without name and time, so that the same sources give the same bytes. */
async function compress(bytes) {
    // Loaded only where it is needed: while it is loaded, every error prints its whole source.
    const { gzip } = await import('@gfx/zopfli');
    return new Promise((resolve, reject) => {
        gzip(bytes, { numiterations: 15 }, (error, output) => (error ? reject(error) : resolve(Buffer.from(output))));
    });
}

/** The files whose content is not that of the sources. The content is compared, not the compression. */
async function stale(built) {
    const names = [];
    for (const [name, bytes] of Object.entries(built)) {
        const stored = await readFile(join(folderOf(name), `${name}.gz`)).catch(() => null);
        if (!stored || !gunzipSync(stored).equals(bytes)) names.push(name);
    }
    return names;
}

async function write(built) {
    await mkdir(dist, { recursive: true });
    let total = 0;
    for (const [name, bytes] of Object.entries(built)) {
        const packed = await compress(bytes);
        if (name !== WIDGET) total += packed.length;
        await writeFile(join(folderOf(name), `${name}.gz`), packed);
        console.log(`${name.padEnd(12)}${String(bytes.length).padStart(8)} bytes, ${packed.length} compressed`);
    }
    console.log(`${'the page'.padEnd(12)}${' '.repeat(14)} ${total} compressed, at most ${BYTES_MAX}`);
    return total <= BYTES_MAX;
}

const [option, folder] = process.argv.slice(2);
const built = await files();
if (option === '--check') {
    const names = await stale(built);
    if (names.length > 0) {
        console.error(`Not what the sources give: ${names.join(', ')}. Run \`node web/build.mjs\` and commit what it writes.`);
        process.exitCode = 1;
    }
} else if (option === '--plain') {
    await mkdir(folder, { recursive: true });
    for (const [name, bytes] of Object.entries(built)) await writeFile(join(folder, name), bytes);
} else if (!(await write(built))) {
    console.error('The page is too large.');
    process.exitCode = 1;
}

import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import type { BunPlugin } from "bun"
import { assetPrefix } from "./Assets.ts"

/** One file of a typeface: where a style sheet finds it, and its content. */
export interface Typeface {
  /** Named as in `styles/Fonts.css`. */
  readonly module: string
  readonly path: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** The shipped families, in the order in which a page needs them: each one's name in the style sheet, and its file. */
const typefaces = [
  {
    module: "@fontsource-variable/geist/files/geist-latin-wght-normal.woff2",
    file: import.meta.resolve("@fontsource-variable/geist/files/geist-latin-wght-normal.woff2")
  },
  {
    module: "@fontsource-variable/geist-mono/files/geist-mono-latin-wght-normal.woff2",
    file: import.meta.resolve("@fontsource-variable/geist-mono/files/geist-mono-latin-wght-normal.woff2")
  }
] as const

const readTypeface = async ({ file, module }: (typeof typefaces)[number]): Promise<Typeface> => {
  const bytes = new Uint8Array(await Bun.file(fileURLToPath(file)).arrayBuffer())
  return { module, bytes, path: `${assetPrefix}${basename(module, ".woff2")}-${Bun.hash(bytes).toString(36)}.woff2` }
}

export const readTypefaces = (): Promise<ReadonlyArray<Typeface>> => Promise.all(typefaces.map(readTypeface))

/**
 * Keeps the typefaces out of the style sheet: the bundler would otherwise embed them, and nothing is drawn until the style sheet
 * has been read.
 */
export const typefacesApart = (typefaces: ReadonlyArray<Typeface>): BunPlugin => ({
  name: "typefaces",
  setup: (build) => {
    build.onResolve({ filter: /\.woff2$/ }, ({ path }) => {
      const found = typefaces.find(({ module }) => module === path)
      return found === undefined ? undefined : { path: found.path, external: true }
    })
  }
})

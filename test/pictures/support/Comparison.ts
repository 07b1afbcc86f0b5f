import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import pixelmatch from "pixelmatch"
import { PNG } from "pngjs"

const stored = join(import.meta.dir, "..", "stored")
/** This folder is ignored by Git. */
const output = join(import.meta.dir, "..", "..", "..", "screenshots", "pictures")

/** Maximum colour difference between two pixels: about the difference that a new renderer version makes at an edge. */
const tolerance = 0.12
/** Maximum share of a picture's pixels that may exceed that difference: less than a single changed word affects. */
const allowedPart = 0.0004

/**
 * Describes how a picture differs from the stored picture, or returns `undefined` if they match. Writes the pictures to
 * `screenshots/pictures`.
 */
export const compare = async (name: string, found: Uint8Array): Promise<string | undefined> => {
  const keep = async (kind: string, bytes: Uint8Array) => {
    await mkdir(output, { recursive: true })
    await Bun.write(join(output, `${name}.${kind}.png`), bytes)
  }
  const file = Bun.file(join(stored, `${name}.png`))
  if (!(await file.exists())) {
    await keep("found", found)
    return "there is no stored picture"
  }
  const expected = PNG.sync.read(Buffer.from(await file.arrayBuffer()))
  const actual = PNG.sync.read(Buffer.from(found))
  const { height, width } = expected
  if (actual.width !== width || actual.height !== height) {
    await keep("found", found)
    return `it is ${actual.width} x ${actual.height} and was ${width} x ${height}`
  }
  const difference = new PNG({ width, height })
  const count = pixelmatch(expected.data, actual.data, difference.data, width, height, { threshold: tolerance })
  const part = count / (width * height)
  if (part <= allowedPart) return undefined
  await keep("found", found)
  await keep("difference", PNG.sync.write(difference))
  return `${count} pixels differ (${(part * 100).toFixed(2)} %)`
}

/** Stores a picture losslessly in a small file. Areas of a single colour compress best without a filter. */
export const store = async (name: string, found: Uint8Array): Promise<void> => {
  const picture = PNG.sync.read(Buffer.from(found))
  const small = PNG.sync.write(picture, { colorType: 2, deflateLevel: 9, deflateStrategy: 0, filterType: 0 })
  await Bun.write(join(stored, `${name}.png`), small)
}

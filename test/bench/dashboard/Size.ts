import { Effect } from "effect"
import { assetPrefix } from "../../../src/dashboard/Assets.ts"
import { reviewRun } from "../../browser/support/records/Runs.ts"
import type { ServedFiles } from "../../browser/support/ServedFiles.ts"
import type { Figure } from "../support/Figures.ts"

const budget = { atMost: 170 }

const pages = [
  ["run page", `/w/acme/runs/${reviewRun}`],
  ["install", "/new"],
  ["sign-in", "/sign-in"]
] as const

const origin = "http://localhost"

/** Returns the scripts that a page's document requests before it shows any content, with their transferred sizes. */
const scriptsOf = (files: ServedFiles, path: string) =>
  Effect.promise(async () => {
    const document = await (await files(new Request(`${origin}${path}`))).text()
    const scripts = new Set([...document.matchAll(/(?:src|href)="([^"]+\.js)"/g)].map(([, script]) => script ?? ""))
    let bytes = 0
    for (const script of scripts) {
      if (!script.startsWith(assetPrefix)) throw new Error(`${path} asks for ${script}.`)
      const answer = await files(new Request(`${origin}${script}`, { headers: { "accept-encoding": "br" } }))
      if (answer.headers.get("content-encoding") !== "br") throw new Error(`${script} does not travel as brotli.`)
      bytes += (await answer.arrayBuffer()).byteLength
    }
    return { bytes, count: scripts.size }
  })

/** Measures the size of the scripts that the binary sends before the first screen. */
export const size = Effect.fnUntraced(function* (files: ServedFiles) {
  const figures: Array<Figure> = []
  for (const [name, path] of pages) {
    const { bytes, count } = yield* scriptsOf(files, path)
    figures.push({
      name: `${name}: script before the first screen, brotli`,
      figure: bytes / 1024,
      unit: "KB",
      target: budget,
      detail: `${count} files`
    })
  }
  return figures
})

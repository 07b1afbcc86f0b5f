/** A command in a terminal session, and everything that the command printed to standard output. */
export interface TerminalStep {
  readonly command: string
  readonly output: string
}

const columns = 110
const lineHeight = 20
const advance = 8.43
const margin = 20

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** Wraps a line as a terminal of this width would. */
const broken = (line: string): ReadonlyArray<string> =>
  line.length <= columns ? [line] : [line.slice(0, columns), ...broken(line.slice(columns))]

/** Draws a terminal session as an SVG image. The colours follow the reader's preference for light or dark themes. */
export const terminalPicture = (steps: ReadonlyArray<TerminalStep>): string => {
  const lines = steps.flatMap(({ command, output }, index) => [
    ...(index === 0 ? [] : [{ text: "", kind: "output" }]),
    ...broken(`$ ${command}`).map((text) => ({ text, kind: "command" })),
    ...output
      .trimEnd()
      .split("\n")
      .flatMap(broken)
      .map((text) => ({ text, kind: "output" }))
  ])
  const width = Math.ceil(Math.max(...lines.map(({ text }) => text.length)) * advance + 2 * margin)
  const height = lines.length * lineHeight + 2 * margin
  const drawn = lines.map(
    ({ kind, text }, index) =>
      `<text class="${kind}" x="${margin}" y="${margin + 15 + index * lineHeight}" xml:space="preserve">${escaped(text)}</text>`
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<style>
rect { fill: #f6f7f8; stroke: #d0d4d9 }
text { font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #1f2328 }
.command { font-weight: 700; fill: #0b57a4 }
@media (prefers-color-scheme: dark) {
  rect { fill: #14171a; stroke: #3a4047 }
  text { fill: #e3e6ea }
  .command { fill: #8ab8ef }
}
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${drawn.join("\n")}
</svg>
`
}

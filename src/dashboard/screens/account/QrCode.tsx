import { encode } from "uqr"

/** Width, in modules, of the white border that cameras need around a code. */
const quietZone = 4

/** Returns one path for the dark modules of a row. Each run of dark modules is a rectangle of height 1. */
const rowPath = (row: ReadonlyArray<boolean>, y: number): string => {
  const runs: Array<string> = []
  for (let x = 0; x < row.length; x += 1) {
    if (row[x] !== true) continue
    const start = x
    while (row[x + 1] === true) x += 1
    runs.push(`M${start} ${y}h${x + 1 - start}v1H${start}z`)
  }
  return runs.join("")
}

/** Shows text as a QR code. The code is dark on white in both themes, because many cameras cannot read other colours. */
export const QrCode = ({ text, label }: { readonly text: string; readonly label: string }) => {
  const { data, size } = encode(text, { ecc: "M", border: quietZone })
  return (
    <svg className="qr-code" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
      <path fill="#fff" d={`M0 0h${size}v${size}H0z`} />
      <path fill="#000" d={data.map(rowPath).join("")} />
    </svg>
  )
}

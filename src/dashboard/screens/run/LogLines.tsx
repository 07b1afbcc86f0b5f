import { memo, type MouseEvent } from "react"
import { clockTime, exactTime } from "../../words/Format.ts"
import { useLanguage } from "../../words/Words.ts"
import { ansiPieces, stripAnsi } from "./Ansi.ts"
import type { LogBuffer, LogLine } from "./LogBuffer.ts"
import { hashOf, type LineRange } from "./LogLink.ts"
import { type LogRows, piecesBetween, rowStarts } from "./LogRows.ts"

/** Height of a log row in pixels, as in the style sheet. */
export const lineHeight = 20

interface RowProps {
  readonly line: LogLine
  readonly part: number
  /** Number of characters that fit in a row. If undefined, lines do not wrap. */
  readonly columns: number | undefined
  readonly wanted: boolean
  readonly linked: boolean
  readonly onLink: (event: MouseEvent) => void
  readonly linkName: string
}

const piecesOf = ({ columns, line, part }: Pick<RowProps, "columns" | "line" | "part">) => {
  const pieces = ansiPieces(line.text)
  if (columns === undefined) return pieces
  const starts = rowStarts(stripAnsi(line.text), columns)
  return piecesBetween(pieces, starts[part] ?? 0, starts[part + 1] ?? Number.POSITIVE_INFINITY)
}

/** The time of a line. A tooltip shows its date and time zone. */
const LineTime = ({ at }: { readonly at: string }) => (
  <time className="log-time" dateTime={at} title={exactTime(useLanguage(), at)}>
    {clockTime(at)}
  </time>
)

const Row = memo(({ columns, line, linkName, linked, onLink, part, wanted }: RowProps) => (
  <div
    className={`log-line log-${line.stream} log-${line.level}${wanted ? " log-wanted" : ""}${linked ? " log-linked" : ""}`}
  >
    {part === 0 ? (
      // The link is not a Tab stop, because hundreds of Tab stops would obstruct keyboard users.
      <a
        className="log-number"
        href={hashOf({ from: line.number, to: line.number })}
        tabIndex={-1}
        aria-label={linkName}
        data-line={line.number}
        onClick={onLink}
      >
        {line.number}
      </a>
    ) : (
      <span className="log-number" />
    )}
    {part === 0 ? <LineTime at={line.at} /> : <span className="log-time" />}
    <span className="log-text" lang="en">
      {piecesOf({ columns, line, part }).map((piece, index) =>
        piece.className === "" ? (
          piece.text
        ) : (
          <span key={index} className={piece.className}>
            {piece.text}
          </span>
        )
      )}
    </span>
  </div>
))

interface LogLinesProps {
  readonly buffer: LogBuffer
  readonly rows: LogRows
  readonly from: number
  readonly to: number
  readonly height: number
  readonly columns: number | undefined
  /** Index of the line that the person is looking for. */
  readonly wanted: number | undefined
  readonly range: LineRange | undefined
  readonly onLink: (event: MouseEvent) => void
  readonly linkName: (line: number) => string
}

/** The visible rows of the log. */
export const LogLines = ({
  buffer,
  columns,
  from,
  height,
  linkName,
  onLink,
  range,
  rows,
  to,
  wanted
}: LogLinesProps) => (
  <div className="log-rows" style={{ height: `${height}px` }}>
    {Array.from({ length: to - from }, (_, row) => from + row).map((row) => {
      const place = rows.at(row)
      const line = place === undefined ? undefined : buffer.line(place.index)
      return place === undefined || line === undefined ? null : (
        <div key={row} className="log-row" style={{ transform: `translateY(${row * lineHeight}px)` }}>
          <Row
            line={line}
            part={place.part}
            columns={columns}
            wanted={place.index === wanted}
            linked={range !== undefined && range.from <= line.number && line.number <= range.to}
            onLink={onLink}
            linkName={linkName(line.number)}
          />
        </div>
      )
    })}
  </div>
)

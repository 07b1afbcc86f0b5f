import "../../app/Kit.ts"
import { useVirtualizer } from "@tanstack/react-virtual"
import { type KeyboardEvent, memo, type RefObject, useEffect, useMemo, useRef, useState } from "react"
import { Button, IconButton } from "../../ui/Button.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { Status } from "../../ui/Status.tsx"
import { clockTime, integer } from "../../words/Format.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { ansiPieces } from "./Ansi.ts"
import type { LogBuffer, LogLine } from "./LogBuffer.ts"
import { useRunLog } from "./Streams.ts"
import { logWords } from "./LogWords.ts"

const lineHeight = 20
const upKeys: ReadonlySet<string> = new Set(["ArrowUp", "PageUp", "Home"])

const Line = memo(({ line, wanted }: { readonly line: LogLine; readonly wanted: boolean }) => (
  <div className={`log-line log-${line.stream}${wanted ? " log-wanted" : ""}`}>
    <span className="log-number">{line.number}</span>
    <span className="log-time">{clockTime(line.at)}</span>
    <span className="log-text">
      {ansiPieces(line.text).map((piece, index) =>
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

const save = (buffer: LogBuffer, name: string): void => {
  const url = URL.createObjectURL(new Blob([buffer.plainText()], { type: "text/plain" }))
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}

/** Tells when the reader, and nobody else, leaves the newest line or goes back to it. */
const useReader = (scroller: RefObject<HTMLElement | null>, setFollow: (follow: boolean) => void): void => {
  useEffect(() => {
    const element = scroller.current
    if (element === null) return
    const gone = new AbortController()
    const options = { signal: gone.signal, passive: true }
    const leave = () => setFollow(false)
    element.addEventListener("wheel", (event) => (event.deltaY < 0 ? leave() : undefined), options)
    element.addEventListener("touchmove", leave, options)
    // A press on the scroll bar lands outside the content box.
    element.addEventListener(
      "pointerdown",
      (event) => (event.offsetX >= element.clientWidth ? leave() : undefined),
      options
    )
    element.addEventListener(
      "keydown",
      (event) => {
        if (upKeys.has(event.key)) leave()
        if (event.key === "End") setFollow(true)
      },
      options
    )
    return () => gone.abort()
  }, [scroller, setFollow])
}

interface LogViewProps {
  readonly runId: string
  readonly running: boolean
  /** Nothing is expected yet. */
  readonly queued: boolean
}

/** The live log: only what is visible is in the page. Following stops when the reader moves up, and never by itself. */
export const LogView = ({ runId, running, queued }: LogViewProps) => {
  const words = useWords(logWords)
  const language = useLanguage()
  const { buffer, version, state, retryNow } = useRunLog(runId)
  const [follow, setFollow] = useState(true)
  const [search, setSearch] = useState("")
  const [match, setMatch] = useState(0)
  const scroller = useRef<HTMLDivElement>(null)
  useReader(scroller, setFollow)
  // oxlint-disable-next-line react/incompatible-library -- nothing here is memoised by a compiler
  const virtual = useVirtualizer({
    count: buffer.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => lineHeight,
    overscan: 12
  })
  // `version` stands for the buffer's content, which grows in place.
  const matches = useMemo(() => (version < 0 ? [] : buffer.search(search)), [buffer, version, search])
  const currentMatch = matches[Math.min(match, matches.length - 1)]

  useEffect(() => {
    const element = scroller.current
    if (follow && element !== null && version > 0) element.scrollTop = element.scrollHeight
  }, [follow, version])
  useEffect(() => {
    if (currentMatch === undefined || search === "") return
    setFollow(false)
    virtual.scrollToIndex(currentMatch, { align: "center" })
    // The virtualizer is one object for the life of the component.
  }, [currentMatch, search, virtual])

  const step = (by: number) => {
    if (matches.length > 0) setMatch((at) => (Math.min(at, matches.length - 1) + by + matches.length) % matches.length)
  }
  const onSearchKey = (event: KeyboardEvent) => {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1)
    if (event.key === "Escape") setSearch("")
  }
  return (
    <Panel
      flush
      title={words.log}
      beside={
        state === "live" && running ? (
          <Status tone="busy">{words.streamLive}</Status>
        ) : (
          <span className="count">{words.logLines(integer(language, buffer.length))}</span>
        )
      }
      actions={
        <>
          <div className="log-search">
            <input
              type="search"
              className="input input-small"
              aria-label={words.searchLog}
              placeholder={words.searchLog}
              value={search}
              onChange={(event) => {
                setSearch(event.target.value)
                setMatch(0)
              }}
              onKeyDown={onSearchKey}
            />
            {search === "" ? null : (
              <>
                <output className="log-match">
                  {words.match(matches.length === 0 ? 0 : Math.min(match, matches.length - 1) + 1, matches.length)}
                </output>
                <IconButton icon="up" label={words.previousMatch} onClick={() => step(-1)} />
                <IconButton icon="down" label={words.nextMatch} onClick={() => step(1)} />
              </>
            )}
          </div>
          <Button small aria-pressed={follow} title={words.followHelp} onClick={() => setFollow((on) => !on)}>
            {words.follow}
          </Button>
          <Button small icon="download" onClick={() => save(buffer, `${runId}.log`)}>
            {words.download}
          </Button>
        </>
      }
    >
      {state === "waiting" || state === "refused" ? (
        <output className="log-cut">
          {state === "waiting" ? words.streamWaiting : words.streamRefused}
          {state === "waiting" ? (
            <Button small onClick={retryNow}>
              {words.retryNow}
            </Button>
          ) : null}
        </output>
      ) : null}
      <div className="log-frame">
        {/* It scrolls by keyboard too, so it takes focus. */}
        <section
          ref={scroller}
          className={running && !queued ? "log" : "log log-ended"}
          aria-label={words.log}
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          tabIndex={0}
          data-following={follow}
        >
          <div className="log-rows" style={{ height: `${virtual.getTotalSize()}px` }}>
            {virtual.getVirtualItems().map((item) => {
              const line = buffer.line(item.index)
              return line === undefined ? null : (
                <div key={item.key} className="log-row" style={{ transform: `translateY(${item.start}px)` }}>
                  <Line line={line} wanted={search !== "" && item.index === currentMatch} />
                </div>
              )
            })}
          </div>
          {buffer.length === 0 ? <p className="log-empty">{words.logEmpty}</p> : null}
        </section>
        {follow || buffer.length === 0 ? null : (
          <div className="log-jump">
            <Button small tone="primary" icon="down" onClick={() => setFollow(true)}>
              {words.jump}
            </Button>
          </div>
        )}
      </div>
    </Panel>
  )
}

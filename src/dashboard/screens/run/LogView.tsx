import "../../app/Kit.ts"
import { type KeyboardEvent, type RefObject, useEffect, useMemo, useRef, useState } from "react"
import { setPreferences } from "../../preferences/Preferences.ts"
import { usePreferences } from "../../preferences/UsePreferences.ts"
import { Button, IconButton } from "../../ui/Button.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { Status } from "../../ui/Status.tsx"
import { calendarDate, integer } from "../../words/Format.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { useFixedRows } from "./FixedRows.ts"
import type { LogBuffer } from "./LogBuffer.ts"
import { lineHeight } from "./LogHeight.ts"
import { LogLines } from "./LogLines.tsx"
import { rangeOf } from "./LogLink.ts"
import { LogRows } from "./LogRows.ts"
import { useRunLog } from "./Streams.ts"
import { logWords } from "./LogWords.ts"
import { useColumns } from "./UseColumns.ts"
import { useErrorLink } from "./UseErrorLink.ts"
import { useLogLink } from "./UseLogLink.ts"
import { useLogSearch } from "./UseLogSearch.ts"
import { useNextError } from "./UseNextError.ts"

const upKeys: ReadonlySet<string> = new Set(["ArrowUp", "PageUp", "Home"])

const save = (buffer: LogBuffer, name: string): void => {
  const url = URL.createObjectURL(new Blob([buffer.plainText()], { type: "text/plain" }))
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}

/** Reports when the reader leaves the newest line or returns to it, ignoring scrolling from any other cause. */
const useReader = (scroller: RefObject<HTMLElement | null>, setFollow: (follow: boolean) => void): void => {
  useEffect(() => {
    const element = scroller.current
    if (element === null) return
    const gone = new AbortController()
    const options = { signal: gone.signal, passive: true }
    const leave = () => setFollow(false)
    element.addEventListener("wheel", (event) => (event.deltaY < 0 ? leave() : undefined), options)
    element.addEventListener("touchmove", leave, options)
    // Clicks on the scroll bar land outside the content box.
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
  readonly removedAt: string | undefined
}

/** The live log: only the visible lines are in the page. Following stops only when the reader scrolls up. */
export const LogView = ({ runId, running, queued, removedAt }: LogViewProps) => {
  const words = useWords(logWords)
  const language = useLanguage()
  const { buffer, version, state, retryNow } = useRunLog(runId)
  const [follow, setFollow] = useState(rangeOf(window.location.hash) === undefined)
  const { range, onLink } = useLogLink(setFollow)
  const [onlyProblems, setOnlyProblems] = useState(false)
  const [error, setError] = useState<number | undefined>(undefined)
  const [search, setSearch] = useState("")
  const [match, setMatch] = useState(0)
  const scroller = useRef<HTMLDivElement>(null)
  useReader(scroller, setFollow)
  const { wrapLog } = usePreferences()
  const columns = useColumns(scroller, wrapLog)
  const rows = useMemo(
    () => new LogRows(buffer, columns, onlyProblems ? ({ level }) => level !== "plain" : undefined),
    [buffer, columns, onlyProblems]
  )
  const { from, to, height, show } = useFixedRows(scroller, rows.count(), lineHeight)
  const { matches, total, done } = useLogSearch(buffer, version, search)
  const at = Math.min(match, total - 1)
  const currentMatch = matches[at]

  useEffect(() => {
    const element = scroller.current
    if (follow && element !== null && version > 0) element.scrollTop = height
  }, [follow, version, height])
  useEffect(() => {
    if (currentMatch === undefined || search === "") return
    // oxlint-disable-next-line react/set-state-in-effect -- the match comes from a search on another thread
    setFollow(false)
    show(rows.rowOf(currentMatch))
  }, [currentMatch, search, show, rows])
  const linked = range !== undefined && buffer.length >= range.from ? range.from - 1 : undefined
  const arrives = useRef(range !== undefined)
  useEffect(() => {
    if (linked === undefined) return
    show(rows.rowOf(linked))
    // Only once: clicking a line number must not move the page under the pointer.
    if (arrives.current) scroller.current?.scrollIntoView({ block: "center" })
    arrives.current = false
  }, [linked, show, rows])

  const { errors } = buffer
  const goToError = (index: number) => {
    setError(index)
    setFollow(false)
    show(rows.rowOf(index))
  }
  const nextError = () => {
    const place = errors.findIndex((index) => error === undefined || index > error)
    const next = errors[Math.max(0, place)]
    if (next !== undefined) goToError(next)
  }
  useNextError(nextError)
  useErrorLink(errors, (index) => {
    goToError(index)
    scroller.current?.scrollIntoView({ block: "center" })
  })

  const step = (by: number) => {
    if (total > 0) setMatch((at + by + total) % total)
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
                <output className="log-match">{total === 0 && !done ? null : words.match(at + 1, total)}</output>
                <IconButton icon="up" label={words.previousMatch} onClick={() => step(-1)} />
                <IconButton icon="down" label={words.nextMatch} onClick={() => step(1)} />
              </>
            )}
          </div>
          {errors.length === 0 ? null : (
            <Button small icon="down" title={words.nextErrorHelp} onClick={nextError}>
              {words.nextError(error === undefined ? 0 : errors.indexOf(error) + 1, errors.length)}
            </Button>
          )}
          <Button
            small
            aria-pressed={onlyProblems}
            title={words.problemsHelp}
            onClick={() => setOnlyProblems((only) => !only)}
          >
            {words.problems}
          </Button>
          <Button small aria-pressed={wrapLog} onClick={() => setPreferences({ wrapLog: !wrapLog })}>
            {words.wrap}
          </Button>
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
          <LogLines
            {...{ buffer, rows, columns, from, to, height, range, onLink }}
            wanted={search === "" ? error : currentMatch}
            linkName={words.lineLink}
          />
          {onlyProblems && buffer.length > 0 && rows.count() === 0 ? (
            <p className="log-empty">{words.noProblems}</p>
          ) : null}
          {buffer.length === 0 ? (
            <p className="log-empty">
              {removedAt === undefined ? words.logEmpty : words.logRemoved(calendarDate(language, removedAt))}
            </p>
          ) : null}
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

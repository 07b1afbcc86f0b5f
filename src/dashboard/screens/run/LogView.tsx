import "../../app/Kit.ts"
import {
  type KeyboardEvent,
  type RefObject,
  useEffect,
  useMemo,
  useRef,
  useState,
  useCallback,
  type MouseEvent
} from "react"
import { setPreferences } from "../../preferences/Preferences.ts"
import { usePreferences } from "../../preferences/UsePreferences.ts"
import { Button, IconButton } from "../../ui/Button.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { Status } from "../../ui/Status.tsx"
import { calendarDate } from "../../words/Format.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import type { LogBuffer } from "./LogBuffer.ts"
import { lineHeight } from "./LogLines.tsx"
import { LogLines } from "./LogLines.tsx"
import { rangeOf, errorPlaceOf, hashOf, extended, type LineRange } from "./LogLink.ts"
import { LogRows } from "./LogRows.ts"
import { useRunLog } from "./Streams.ts"
import { logWords } from "./LogWords.ts"
import { flushSync } from "react-dom"
import { LogSearch } from "./LogSearch.ts"
import { useLetterKeys } from "../../app/LetterKeys.ts"

const linesAtOnce = 1000
/** Half the duration of a frame. The other half is for rendering. */
const sliceMs = 8

interface Found {
  readonly text: string
  readonly matches: ReadonlyArray<number>
  /** The number of matches at the time of rendering; the list itself keeps growing. */
  readonly total: number
  readonly done: boolean
}

const none: ReadonlyArray<number> = []
const notYet = (text: string): Found => ({ text, matches: none, total: 0, done: text === "" })

/** The lines that contain `text`, searched in slices between frames. `version` changes when the buffer has grown. */
const useLogSearch = (buffer: LogBuffer, version: number, text: string): Found => {
  const [found, setFound] = useState(() => notYet(""))
  const last = useRef<{ readonly text: string; readonly search: LogSearch } | undefined>(undefined)
  useEffect(() => {
    if (text === "" || version === 0) {
      last.current = undefined
      return
    }
    const search = last.current?.text === text ? last.current.search : new LogSearch(buffer, text, last.current?.search)
    last.current = { text, search }
    let timer: ReturnType<typeof setTimeout> | undefined
    const slice = () => {
      const begin = performance.now()
      do search.step(linesAtOnce)
      while (!search.done && performance.now() - begin < sliceMs)
      const { done, matches } = search
      setFound((known) =>
        known.matches === matches && known.total === matches.length && known.done === done
          ? known
          : { text, matches, total: matches.length, done }
      )
      if (!done) timer = setTimeout(slice)
    }
    timer = setTimeout(slice)
    return () => clearTimeout(timer)
  }, [buffer, version, text])
  return found.text === text ? found : notYet(text)
}

const reveal = (element: HTMLElement | null): void => {
  element?.scrollIntoView({ block: "center" })
  element?.focus({ preventScroll: true })
}

/**
 * Returns the index of the first match at or after this line, or, if there is none, the index of the first match in the log.
 */
const nearestMatch = (matches: ReadonlyArray<number>, total: number, line: number): number => {
  let low = 0
  let high = total
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((matches[middle] ?? 0) < line) low = middle + 1
    else high = middle
  }
  return low < total ? low : 0
}

const inAddress = () => rangeOf(window.location.hash)

/**
 * The lines selected by the URL. A click on a line number selects the line; a click with Shift extends the selection to that
 * line.
 */
const useLogLink = (
  setFollow: (follow: boolean) => void
): {
  readonly range: LineRange | undefined
  readonly onLink: (event: MouseEvent) => void
} => {
  const [range, setRange] = useState(inAddress)
  useEffect(() => {
    const onHash = () => {
      const named = inAddress()
      setRange(named)
      if (named !== undefined) setFollow(false)
    }
    window.addEventListener("hashchange", onHash)
    return () => window.removeEventListener("hashchange", onHash)
  }, [setFollow])
  const onLink = useCallback(
    (event: MouseEvent) => {
      if (event.metaKey || event.ctrlKey || !(event.currentTarget instanceof HTMLElement)) return
      event.preventDefault()
      setFollow(false)
      const line = Number(event.currentTarget.dataset["line"])
      setRange((known) => {
        const next = event.shiftKey ? extended(known, line) : { from: line, to: line }
        // Replaces the entry in the browser's history instead of adding one.
        window.history.replaceState(window.history.state, "", hashOf(next))
        return next
      })
    },
    [setFollow]
  )
  return { range, onLink }
}

/** Scrolls to the error in the URL when the log contains it. */
const useErrorLink = (errors: ReadonlyArray<number>, go: (index: number) => void): void => {
  const latest = useRef({ errors, go })
  const wanted = useRef(errorPlaceOf(window.location.hash))
  const tryIt = useRef(() => {
    const index = wanted.current === undefined ? undefined : latest.current.errors[wanted.current - 1]
    if (index === undefined) return
    wanted.current = undefined
    // Replace the error's fragment with the fragment of its line, so that a second click on the same link changes the URL.
    window.history.replaceState(window.history.state, "", hashOf({ from: index + 1, to: index + 1 }))
    latest.current.go(index)
  })
  useEffect(() => {
    latest.current = { errors, go }
    tryIt.current()
  })
  useEffect(() => {
    const onHash = () => {
      wanted.current = errorPlaceOf(window.location.hash)
      tryIt.current()
    }
    window.addEventListener("hashchange", onHash)
    return () => window.removeEventListener("hashchange", onHash)
  }, [])
}

/**
 * Number of characters that fit after the line numbers, in the page's font. `undefined` while unknown, or if lines do not wrap.
 */
const useColumns = (scroller: RefObject<HTMLElement | null>, wraps: boolean): number | undefined => {
  const [columns, setColumns] = useState<number | undefined>(undefined)
  useEffect(() => {
    const element = scroller.current
    if (element === null || !wraps) return
    const look = () => {
      // Measures twenty characters, because the width of a single character is rounded.
      const ruler = document.createElement("div")
      ruler.className = "log-line"
      ruler.innerHTML = `<span class="log-number"></span><span class="log-time"></span><span class="log-text">${"0".repeat(20)}</span>`
      element.append(ruler)
      const text = ruler.lastElementChild?.getBoundingClientRect()
      const begin = ruler.getBoundingClientRect().left
      const padding = Number.parseFloat(getComputedStyle(ruler).paddingRight)
      ruler.remove()
      if (text === undefined || text.width === 0) return
      const room = element.clientWidth - (text.left - begin) - padding
      setColumns(Math.max(20, Math.floor(room / (text.width / 20))))
    }
    const sizes = new ResizeObserver(look)
    sizes.observe(element)
    return () => sizes.disconnect()
  }, [scroller, wraps])
  return wraps ? columns : undefined
}

/** Number of rows rendered beyond each edge of the view. Scrolling past half of these rows triggers another render. */
const margin = 16
const step = margin / 2

/** The range before the view has been measured. */
const firstView = { from: 0, rows: 40 }

interface FixedRows {
  /** Index of the first row to render, and of the row after the last one. */
  readonly from: number
  readonly to: number
  /** Total height of all rows in pixels. */
  readonly height: number
  /** Scrolls a row to the middle of the view. */
  readonly show: (index: number) => void
}

/**
 * Calculates which of `count` rows of equal height are visible in `scroller`. The cost of rendering or adding a row does not
 * depend on the number of rows. A list of measured rows would lay out all rows for each new row.
 */
const useFixedRows = (scroller: RefObject<HTMLElement | null>, count: number, rowHeight: number): FixedRows => {
  const [view, setView] = useState(firstView)
  useEffect(() => {
    const element = scroller.current
    if (element === null) return
    const look = () => {
      const from = Math.floor(element.scrollTop / rowHeight / step) * step
      const rows = Math.ceil(element.clientHeight / rowHeight) + step
      setView((known) => (known.from === from && known.rows === rows ? known : { from, rows }))
    }
    // Runs synchronously, because an empty frame would flash.
    const onScroll = () => flushSync(look)
    const sizes = new ResizeObserver(look)
    sizes.observe(element)
    element.addEventListener("scroll", onScroll, { passive: true })
    return () => {
      sizes.disconnect()
      element.removeEventListener("scroll", onScroll)
    }
  }, [scroller, rowHeight])
  const show = useCallback(
    (index: number) => {
      const element = scroller.current
      element?.scrollTo({ top: index * rowHeight - (element.clientHeight - rowHeight) / 2 })
    },
    [scroller, rowHeight]
  )
  return {
    from: Math.max(0, Math.min(view.from, count) - margin),
    to: Math.min(count, view.from + view.rows + margin),
    height: count * rowHeight,
    show
  }
}

const upKeys: ReadonlySet<string> = new Set(["ArrowUp", "PageUp", "Home"])

const save = (buffer: LogBuffer, name: string): void => {
  const url = URL.createObjectURL(new Blob([buffer.plainText()], { type: "text/plain" }))
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}

/**
 * Reports when the person scrolls away from the newest line or back to the newest line. Ignores scrolling from any other
 * cause.
 */
const useReader = (scroller: RefObject<HTMLElement | null>, setFollow: (follow: boolean) => void): void => {
  useEffect(() => {
    const element = scroller.current
    if (element === null) return
    const gone = new AbortController()
    const options = { signal: gone.signal, passive: true }
    const leave = () => setFollow(false)
    element.addEventListener("wheel", (event) => (event.deltaY < 0 ? leave() : undefined), options)
    element.addEventListener("touchmove", leave, options)
    // The scroll bar is outside the content box, so a click outside the content box is a click on the scroll bar.
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
  /** True if no log is expected yet. */
  readonly queued: boolean
  readonly removedAt: string | undefined
}

/** The live log. Only visible lines are rendered. The log stops following new lines only when the person scrolls up. */
export const LogView = ({ runId, running, queued, removedAt }: LogViewProps) => {
  const words = useWords(logWords)
  const language = useLanguage()
  const { buffer, version, state, retryNow } = useRunLog(runId)
  const [follow, setFollow] = useState(rangeOf(window.location.hash) === undefined)
  const { range, onLink } = useLogLink(setFollow)
  const [onlyProblems, setOnlyProblems] = useState(false)
  const [error, setError] = useState<number | undefined>(undefined)
  const [search, setSearch] = useState("")
  // `undefined` until the reader steps through the matches, starting at the first match after the line where the search
  // began.
  const [chosenMatch, setMatch] = useState<number | undefined>(undefined)
  const [begin, setBegin] = useState(0)
  const [isFull, setFull] = useState(false)
  /**
   * The line to keep in the middle of the view when line wrapping or full-screen mode is toggled, which changes the rows.
   */
  const [kept, setKept] = useState<{ readonly line: number } | undefined>(undefined)
  const scroller = useRef<HTMLDivElement>(null)
  const onReader = useCallback((follows: boolean) => {
    setFollow(follows)
    setKept(undefined)
  }, [])
  useReader(scroller, onReader)
  const { wrapLog } = usePreferences()
  const columns = useColumns(scroller, wrapLog)
  const rows = useMemo(
    () => new LogRows(buffer, columns, onlyProblems ? ({ level }) => level !== "plain" : undefined),
    [buffer, columns, onlyProblems]
  )
  const { from, to, height, show } = useFixedRows(scroller, rows.count(), lineHeight)
  const { matches, total, done } = useLogSearch(buffer, version, search)
  const near = chosenMatch ?? nearestMatch(matches, total, begin)
  const at = Math.min(near, total - 1)
  const currentMatch = matches[at]
  /** The line in the middle of the view. */
  const lineInView = () => {
    const element = scroller.current
    if (element === null) return 0
    return rows.at(Math.floor((element.scrollTop + element.clientHeight / 2) / lineHeight))?.index ?? 0
  }
  const keepingPlace = (change: () => void) => () => {
    setKept(follow ? undefined : { line: lineInView() })
    change()
  }
  useEffect(() => {
    if (kept === undefined) return
    // Scroll in the next frame, after the size of the view has been measured.
    const frame = requestAnimationFrame(() => show(rows.rowOf(kept.line)))
    return () => cancelAnimationFrame(frame)
  }, [kept, rows, show])
  useEffect(() => {
    if (window.location.hash === "#log") reveal(scroller.current)
  }, [])
  useLetterKeys({
    l: () => reveal(scroller.current),
    f: keepingPlace(() => setFull((full) => !full))
  })
  const leaveFull = useRef(() => {})
  useEffect(() => {
    leaveFull.current = keepingPlace(() => setFull(false))
  })
  useEffect(() => {
    if (!isFull) return
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented) leaveFull.current()
    }
    document.addEventListener("keydown", onKey)
    return () => document.removeEventListener("keydown", onKey)
  }, [isFull])

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
    // Scrolls only once, because a click on a line number must not move the page under the pointer.
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
  useLetterKeys({ e: nextError })
  useErrorLink(errors, (index) => {
    goToError(index)
    scroller.current?.scrollIntoView({ block: "center" })
  })

  const step = (by: number) => {
    if (total > 0) setMatch((at + by + total) % total)
  }
  const onSearchKey = (event: KeyboardEvent) => {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1)
    if (event.key !== "Escape" || search === "") return
    // The first press of Escape ends the search without moving the view. A second press leaves full screen.
    event.preventDefault()
    setSearch("")
  }
  return (
    <div className={isFull ? "log-panel log-full" : "log-panel"}>
      <Panel
        flush
        title={words.log}
        beside={
          state === "live" && running ? (
            <Status tone="busy">{words.streamLive}</Status>
          ) : (
            <span className="count">{words.logLines(buffer.length)}</span>
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
                  if (search === "") setBegin(lineInView())
                  setSearch(event.target.value)
                  setMatch(undefined)
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
            <Button small aria-pressed={wrapLog} onClick={keepingPlace(() => setPreferences({ wrapLog: !wrapLog }))}>
              {words.wrap}
            </Button>
            <Button small aria-pressed={follow} title={words.followHelp} onClick={() => setFollow((on) => !on)}>
              {words.follow}
            </Button>
            <Button
              small
              aria-pressed={isFull}
              title={words.fullHelp}
              onClick={keepingPlace(() => setFull((full) => !full))}
            >
              {words.full}
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
            id="log"
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
    </div>
  )
}

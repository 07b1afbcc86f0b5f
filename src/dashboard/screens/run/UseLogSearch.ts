import { useEffect, useRef, useState } from "react"
import type { LogBuffer } from "./LogBuffer.ts"
import { LogSearch } from "./LogSearch.ts"

const linesAtOnce = 1000
/** Half a frame; the rest is for drawing. */
const sliceMs = 8

interface Found {
  readonly text: string
  readonly matches: ReadonlyArray<number>
  /** The count at the time of drawing: the list itself keeps growing. */
  readonly total: number
  readonly done: boolean
}

const none: ReadonlyArray<number> = []
const notYet = (text: string): Found => ({ text, matches: none, total: 0, done: text === "" })

/** The lines that contain `text`, searched in slices between frames; `version` changes when the buffer has grown. */
export const useLogSearch = (buffer: LogBuffer, version: number, text: string): Found => {
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

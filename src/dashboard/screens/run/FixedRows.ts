import { type RefObject, useCallback, useEffect, useState } from "react"
import { flushSync } from "react-dom"

/** Rows drawn beyond each edge of the view; scrolling past half of them redraws. */
const margin = 16
const step = margin / 2

/** A view that has not been measured yet. */
const firstView = { from: 0, rows: 40 }

export interface FixedRows {
  /** Indexes of the first row to draw and of the first row after the last one. */
  readonly from: number
  readonly to: number
  /** Total height of all rows, in pixels. */
  readonly height: number
  /** Scrolls a row to the middle of the view. */
  readonly show: (index: number) => void
}

/**
 * Calculates which of `count` rows of equal height are visible in `scroller`. The cost of drawing or adding a row does not depend
 * on the number of rows, whereas a list of measured rows lays out all of them again for each one.
 */
export const useFixedRows = (scroller: RefObject<HTMLElement | null>, count: number, rowHeight: number): FixedRows => {
  const [view, setView] = useState(firstView)
  useEffect(() => {
    const element = scroller.current
    if (element === null) return
    const look = () => {
      const from = Math.floor(element.scrollTop / rowHeight / step) * step
      const rows = Math.ceil(element.clientHeight / rowHeight) + step
      setView((known) => (known.from === from && known.rows === rows ? known : { from, rows }))
    }
    // Runs synchronously: an empty frame would be visible as a flash.
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

import { type RefObject, useEffect, useState } from "react"

/**
 * The number of characters that fit next to the line numbers, in the page's font; `undefined` until it is known, or if lines do
 * not wrap.
 */
export const useColumns = (scroller: RefObject<HTMLElement | null>, wraps: boolean): number | undefined => {
  const [columns, setColumns] = useState<number | undefined>(undefined)
  useEffect(() => {
    const element = scroller.current
    if (element === null || !wraps) return
    const look = () => {
      // Measures twenty characters, since the width of one is rounded.
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

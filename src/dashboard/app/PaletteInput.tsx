import { type KeyboardEventHandler, useLayoutEffect, useRef } from "react"
import { Icon } from "../ui/Icon.tsx"
import { useWords } from "../words/Words.ts"
import { paletteWords } from "./PaletteWords.ts"
import { appWords } from "./Words.ts"

interface PaletteInputProps {
  readonly typed: string
  readonly onType: (typed: string) => void
  readonly onKeyDown?: KeyboardEventHandler
  /** The ids of the result list and of its selected entry, once there are results. */
  readonly list?: string
  readonly selected?: string | undefined
}

/** The text field of the palette. It takes the focus as soon as it is rendered. */
export const PaletteInput = ({ typed, onType, onKeyDown, list, selected }: PaletteInputProps) => {
  const words = useWords(appWords)
  const text = useWords(paletteWords)
  const input = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    // Replaces the initial field, which shows no results. The old field disappears and the new field appears in the same
    // frame, so that no key press is lost.
    input.current?.focus()
    input.current?.setSelectionRange(input.current.value.length, input.current.value.length)
  }, [])
  return (
    <div className="palette-input">
      <Icon name="search" />
      <input
        ref={input}
        role="combobox"
        aria-label={words.palette}
        aria-expanded={list !== undefined}
        aria-controls={list}
        aria-activedescendant={selected}
        aria-autocomplete="list"
        autoComplete="off"
        spellCheck={false}
        placeholder={text.hint}
        value={typed}
        onChange={(event) => onType(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <kbd>esc</kbd>
    </div>
  )
}

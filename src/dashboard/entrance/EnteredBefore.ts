// The page's HTML holds its form, so people and their password managers use it before its script has arrived. The script draws
// the form anew, which would lose what they entered.

const entered = new Map<string, string>()

/** What a field held before the script drew it. */
export const enteredBefore = (field: string): string => entered.get(field) ?? ""

/** Draws a page with the values and the focus that the fields of its HTML have at this moment. */
export const keepingEntered = (root: HTMLElement, draw: () => void) => {
  for (const { name, value } of root.querySelectorAll("input")) entered.set(name, value)
  const { activeElement } = document
  draw()
  // A form that is drawn again later begins empty.
  entered.clear()
  if (activeElement instanceof HTMLInputElement && !activeElement.isConnected)
    root.querySelector<HTMLInputElement>(`input[name="${activeElement.name}"]`)?.focus()
}

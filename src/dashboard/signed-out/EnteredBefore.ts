// The page's HTML contains its form, so people and their password managers can use it before its script has arrived. The script
// draws the form again, which would lose what they have entered.

const entered = new Map<string, string>()

/** The text that a field contained before the script drew the page. */
export const enteredBefore = (field: string): string => entered.get(field) ?? ""

/** Draws a page, keeping the current values and focus of the fields in its HTML. */
export const keepingEntered = (root: HTMLElement, draw: () => void) => {
  for (const { name, value } of root.querySelectorAll("input")) entered.set(name, value)
  const { activeElement } = document
  draw()
  // A form that is drawn again later starts empty.
  entered.clear()
  if (activeElement instanceof HTMLInputElement && !activeElement.isConnected)
    root.querySelector<HTMLInputElement>(`input[name="${activeElement.name}"]`)?.focus()
}

// The HTML of the page contains the form, so that people and password managers can use the form before the script has
// loaded. Without the code below, the entered values would be lost when the script renders the form again.

const entered = new Map<string, string>()

/** The text in a field before the script rendered the page. */
export const enteredBefore = (field: string): string => entered.get(field) ?? ""

/** Renders a page and keeps the values and the focus of the fields in its HTML. */
export const keepingEntered = (root: HTMLElement, draw: () => void) => {
  for (const { name, value } of root.querySelectorAll("input")) entered.set(name, value)
  const { activeElement } = document
  draw()
  // If the form is rendered again later, its fields must be empty.
  entered.clear()
  if (activeElement instanceof HTMLInputElement && !activeElement.isConnected)
    root.querySelector<HTMLInputElement>(`input[name="${activeElement.name}"]`)?.focus()
}

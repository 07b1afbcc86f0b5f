// The page's HTML contains its form, so that people and their password managers can use it before the script has arrived. The
// script renders the form again, which would lose the entered values.

const entered = new Map<string, string>()

/** The text in a field before the script rendered the page. */
export const enteredBefore = (field: string): string => entered.get(field) ?? ""

/** Renders a page and keeps the values and the focus of the fields in its HTML. */
export const keepingEntered = (root: HTMLElement, draw: () => void) => {
  for (const { name, value } of root.querySelectorAll("input")) entered.set(name, value)
  const { activeElement } = document
  draw()
  // A form that is rendered again later is empty.
  entered.clear()
  if (activeElement instanceof HTMLInputElement && !activeElement.isConnected)
    root.querySelector<HTMLInputElement>(`input[name="${activeElement.name}"]`)?.focus()
}

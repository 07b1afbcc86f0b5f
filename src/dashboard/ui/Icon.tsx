// Icons for this product, on a grid of 16 units with one stroke width and inherited colour.

const shapes = {
  home: "M2.5 7.2 8 2.8l5.5 4.4v6a.6.6 0 0 1-.6.6H9.8V10H6.2v3.8H3.1a.6.6 0 0 1-.6-.6z",
  capsule: "M8 1.8 13.6 5v6L8 14.2 2.4 11V5zM2.6 5.1 8 8.2l5.4-3.1M8 8.2v5.8",
  run: "M5 3.2v9.6l7.6-4.8z",
  source:
    "M4.4 5.6v4.8M11.6 5.6c0 3-7.2 1.8-7.2 4.8M4.4 5.6a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2zM11.6 5.6a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2zM4.4 13.6a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2z",
  pull: "M4.4 5.6v4.8M7 4h3.6c.6 0 1 .4 1 1v5.4M4.4 5.6a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2zM4.4 13.6a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2zM11.6 13.6a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2z",
  connection: "M9.7 6.3a3.1 3.1 0 1 0-2.9 4.2 3.1 3.1 0 0 0 2.9-2h1.5v1.7h1.9V8.5h1.1V6.3zM6.3 7.4h.8",
  activity: "M1.8 8.2h2.7l2-5.2 3 10 2-4.8h2.7",
  graph:
    "M8 6V4.4M8 6 4.2 9.8M8 6l3.8 3.8M8 4.4a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM3.6 13a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2zM12.4 13a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2z",
  people:
    "M6 7.4a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6zM1.8 13.2c0-2.3 1.7-3.6 4.2-3.6s4.2 1.3 4.2 3.6M10.6 3.1a2.2 2.2 0 0 1 0 4M12 9.9c1.4.4 2.3 1.5 2.3 3.3",
  person: "M8 7.8a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2zM3 13.6c0-2.5 2-4 5-4s5 1.5 5 4",
  plus: "M8 3v10M3 8h10",
  search: "M7 11.6a4.6 4.6 0 1 0 0-9.2 4.6 4.6 0 0 0 0 9.2zM10.5 10.5l3.3 3.3",
  check: "m3 8.6 3.2 3.2L13 4.6",
  cross: "m4 4 8 8M12 4l-8 8",
  minus: "M3.5 8h9",
  replace: "M8 2.8v6M5 5.8h6M5 12.4h6",
  forget: "M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3z",
  update: "M3 9.4c1.4-2.6 3-2.6 5-1.4s3.6 1.2 5-1.4",
  import: "M8 2.6v7M5 7l3 3 3-3M3.2 13h9.6",
  move: "M2.8 8h10M9.4 4.6 12.8 8l-3.4 3.4",
  ring: "M8 4.6a3.4 3.4 0 1 0 0 6.8 3.4 3.4 0 0 0 0-6.8z",
  point: "M8 8h.1",
  chevron: "m6 3.8 4.2 4.2L6 12.2",
  down: "m3.8 6 4.2 4.2L12.2 6",
  up: "m3.8 10 4.2-4.2L12.2 10",
  updown: "m5 6 3-3 3 3M5 10l3 3 3-3",
  copy: "M5.6 5.6h7.2v7.2H5.6zM10.4 5.4V3.2H3.2v7.2h2.2",
  external: "M9.4 2.8h3.8v3.8M13 3 7.6 8.4M11.6 9.4v3.4H3.2V4.4h3.4",
  download: "M8 2.4v7.4M4.8 6.8 8 10l3.2-3.2M2.8 13.2h10.4",
  sync: "M13.2 3v3.2H10M2.8 13V9.8H6M12.9 6.1A5.2 5.2 0 0 0 3.4 5.4M3.1 9.9a5.2 5.2 0 0 0 9.5.7",
  warning: "M8 2.2 14.4 13.4H1.6zM8 6.4v3.2M8 11.4v.2",
  info: "M8 14a6 6 0 1 0 0-12 6 6 0 0 0 0 12zM8 7.4v3.4M8 5.2v.2",
  clock: "M8 14a6 6 0 1 0 0-12 6 6 0 0 0 0 12zM8 4.8V8l2.2 1.6",
  menu: "M2.4 4.4h11.2M2.4 8h11.2M2.4 11.6h11.2",
  lock: "M4 7.2h8v6H4zM5.6 7V5.2a2.4 2.4 0 0 1 4.8 0V7",
  trash: "M2.8 4.4h10.4M6.2 4.2V2.6h3.6v1.6M4.2 4.6l.6 8.8h6.4l.6-8.8",
  refresh: "M13.2 2.8v3.4H9.8M12.9 6a5.2 5.2 0 1 0 .2 3.4",
  dots: "M3.6 8h.1M8 8h.1M12.4 8h.1",
  book: "M3 3h4.2c.5 0 .8.3.8.8v9.4c0-.6-.4-1-1-1H3zM13 3H8.8c-.5 0-.8.3-.8.8v9.4c0-.6.4-1 1-1h4z",
  shield: "M8 1.8 13.2 4v3.8c0 3.2-2.2 5.4-5.2 6.4-3-1-5.2-3.2-5.2-6.4V4z",
  stop: "M4 4h8v8H4z",
  gear: "M8 10.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4zM8 1.8v1.8M8 12.4v1.8M1.8 8h1.8M12.4 8h1.8M3.6 3.6l1.3 1.3M11.1 11.1l1.3 1.3M12.4 3.6l-1.3 1.3M4.9 11.1l-1.3 1.3",
  hook: "M6.6 6.2a2.6 2.6 0 1 1 3.4 1.9l1.6 2.8M4.9 8.2a2.6 2.6 0 1 0 2.4 3.6h3.2M7 5.8 5 9.6M11.6 9.4a2.1 2.1 0 1 1-1.6 3.4"
} as const

export type IconName = keyof typeof shapes

/** Decorative, because adjacent text or the control's label has the same meaning. */
export const Icon = ({ name, className }: { readonly name: IconName; readonly className?: string }) => (
  <svg
    className={className === undefined ? "icon" : `icon ${className}`}
    viewBox="0 0 16 16"
    aria-hidden="true"
    focusable="false"
  >
    <path d={shapes[name]} />
  </svg>
)

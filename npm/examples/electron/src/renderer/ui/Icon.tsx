// Small drawings on a grid of 16. They only ever stand beside words, or on a button that has a name, so readers pass them over.

const paths = {
  chat: 'M2.5 4A1.5 1.5 0 0 1 4 2.5h8A1.5 1.5 0 0 1 13.5 4v5.5A1.5 1.5 0 0 1 12 11H7.5L4.5 13.5V11H4a1.5 1.5 0 0 1-1.5-1.5z',
  trash:
    'M2.5 4.5h11M6 4.5V3a.75.75 0 0 1 .75-.75h2.5A.75.75 0 0 1 10 3v1.5M4 4.5l.6 8.1a1 1 0 0 0 1 .9h4.8a1 1 0 0 0 1-.9l.6-8.1M6.75 7v4M9.25 7v4',
  receipt: 'M4 2.5h8v11l-1.6-1.1-1.6 1.1-1.6-1.1-1.6 1.1L4 12.4zM6 5.5h4M6 8h4',
  broom: 'M13.5 2.5 8.6 7.4M6.5 6.5l3 3-1.2 4H3.5a6 6 0 0 0 1.8-4.5zM5.4 13.4l.9-2',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3l3.2 3.2',
  close: 'M4 4l8 8M12 4l-8 8',
  all: 'M2.5 8.5 5 11l5-6.5M8.5 10.5l.5.5 5-6.5',
  check: 'M3 8.5l3.2 3.2L13 5',
  minus: 'M4 8h8',
  plus: 'M8 4v8M4 8h8',
  fit: 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10',
  clock: 'M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM8 5v3.2l2 1.3',
  warning: 'M8 2.8l5.6 10H2.4zM8 6.5v3M8 11.2v.1',
  undo: 'M5.5 3 2.5 6l3 3M2.5 6H10a3.25 3.25 0 0 1 0 6.5H6',
  save: 'M8 2.5v7M5 7l3 3 3-3M2.5 11v1.5a1 1 0 0 0 1 1h9a1 1 0 0 0 1-1V11',
  refresh: 'M13 8a5 5 0 1 1-1.6-3.7M13.2 2.3v2.6h-2.6',
  sun: 'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.8v1.1M8 13.1v1.1M1.8 8h1.1M13.1 8h1.1M3.6 3.6l.8.8M11.6 11.6l.8.8M3.6 12.4l.8-.8M11.6 4.4l.8-.8',
  moon: 'M13 9.6A5.5 5.5 0 0 1 6.4 3a5.3 5.3 0 1 0 6.6 6.6z',
  system: 'M2.5 4a1 1 0 0 1 1-1h9a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1zM6 13.5h4M8 11v2.5',
  keyboard: 'M2 5a1 1 0 0 1 1-1h10a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1zM4.5 6.5h.1M7 6.5h.1M9.5 6.5h.1M11.6 6.5h.1M5 9.5h6',
} as const

export type IconName = keyof typeof paths

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  )
}

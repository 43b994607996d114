import { createBuilder } from 'vite'

/** Builds the app as it is now, once for all tests: what they run is what `npm run build` makes. */
export default async function setup(): Promise<void> {
  const builder = await createBuilder({ logLevel: 'warn' })
  await builder.buildApp()
}

import { render } from 'preact'
import { connect } from '../web/client.ts'
import { start } from './state/start.ts'
import { words } from './strings.ts'
import { App } from './ui/App.tsx'

document.documentElement.lang = words.language
document.documentElement.dir = words.direction
document.title = words.app

const root = document.getElementById('app')
if (!root) throw new Error('the page has no place for the app')

render(<App />, root)
// In Electron the preload script has put the bridge there; a plain page connects to the server that it came from.
void start(window.sidecar ?? connect())

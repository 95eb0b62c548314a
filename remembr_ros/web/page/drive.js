/** Fill root with it; see main.js for what page holds. */
export function mountDrive(root, page) {}

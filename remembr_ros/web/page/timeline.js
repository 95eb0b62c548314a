// Activity over time, on one canvas.

export function mountTimeline(root, page) {
  return { light(times) {} };
}

//! What a renderer that stands for another one passes on.

/// Passes each question on to the renderer that a type holds in its first field.
macro_rules! forward {
    ($own:ty) => {
        impl $crate::render::Renderer for $own {
            fn describe(&self) -> String {
                self.0.describe()
            }

            fn render(
                &self,
                snapshot: &$crate::repo::Snapshot,
                requests: &[$crate::render::Request],
            ) -> Vec<Result<Vec<$crate::render::Object>, $crate::render::RenderError>> {
                self.0.render(snapshot, requests)
            }

            fn render_anew(
                &self,
                snapshot: &$crate::repo::Snapshot,
                requests: &[$crate::render::Request],
            ) -> Vec<Result<Vec<$crate::render::Object>, $crate::render::RenderError>> {
                self.0.render_anew(snapshot, requests)
            }

            fn prepare(&self, snapshot: &$crate::repo::Snapshot, requests: &[$crate::render::Request]) {
                self.0.prepare(snapshot, requests);
            }

            fn rest(&self) {
                self.0.rest();
            }

            fn tally(&self) -> Option<$crate::render::Tally> {
                self.0.tally()
            }
        }
    };
}

pub(super) use forward;

//! What the asking needs of tasks: a board to ask on, and a place where seals are spent.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use rmcp::model::InputRequest;
use uuid::Uuid;

use super::board::Tasks;
use super::desk::{Given, InTask};
use crate::asking::{Board, Told};
use crate::seal::{NoStore, Spent};

impl Board for InTask {
    fn want<'a>(&'a self, key: &'a str, request: &'a InputRequest, within: Duration) -> BoxFuture<'a, Told> {
        async move {
            match self.input(key, request, None, within).await {
                Given::Answer(answer) => Told::Answer(answer),
                Given::Expired => Told::Expired,
                Given::Stopped => Told::Stopped,
                Given::Unable => Told::Unable,
            }
        }
        .boxed()
    }

    fn stopped(&self) -> BoxFuture<'_, ()> {
        InTask::stopped(self).boxed()
    }
}

impl Spent for Tasks {
    fn spend(&self, id: Uuid, expires: Timestamp, now: Timestamp) -> BoxFuture<'_, Result<bool, NoStore>> {
        async move {
            self.store().spend(id, expires, now).await.map_err(|fault| {
                tracing::error!(%fault, "a state for one use could not be marked as used, and is refused");
                NoStore
            })
        }
        .boxed()
    }
}

//! The host of Portcullis: reads a hook event, routes it to sandboxed gates, and answers the agent.
//!
//! The way of an event is [`cli::hook`]: [`protocol::event`] → [`route`] → [`sandbox`] → [`decide`] → [`protocol::answer`],
//! with [`journal`] keeping what happened.

pub mod agent_settings;
pub mod cases;
pub mod cli;
pub mod decide;
pub mod derive;
pub mod dispatch;
pub mod environment;
pub mod explain;
pub mod files;
pub mod journal;
pub mod log;
pub mod overrides;
pub mod places;
pub mod project;
pub mod protocol;
pub mod registry;
pub mod replay;
pub mod report;
pub mod repository;
pub mod route;
pub mod sandbox;
pub mod scan;
